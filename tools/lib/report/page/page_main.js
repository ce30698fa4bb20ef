// Starts the page: sides, theme, search and keys.

function chooseSide(number) {
  state.side = number;
  state.node = state.site = null;
  for (const [i, button] of [...byId("side-choice").children].entries()) {
    button.setAttribute("aria-pressed", String(i === number));
  }
  notify("side");
  search(byId("search").value);
}

function startSides() {
  if (data.sides.length < 2) return;
  data.sides.forEach((s, i) => byId("side-choice").append(element("button", {
    type: "button", text: "AB"[i], title: `Show ${s.model} (tier ${s.tier})`, onclick: () => chooseSide(i)})));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  notify("theme");
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  byId("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

function startSearch() {
  const field = byId("search");
  field.addEventListener("input", () => search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") goToMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      field.value = "";
      search("");
    }
  });
  byId("next-match").onclick = () => goToMatch(1);
  byId("previous-match").onclick = () => goToMatch(-1);
  addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

function startNavigation() {
  for (const section of document.querySelectorAll("main > section")) {
    if (section.hidden) continue;
    byId("nav").append(element("a", {href: `#${section.id}`, text: section.querySelector("h2").textContent}));
  }
}

startTheme();
startSides();
startSearch();
// The graph is shown first, so that its worker computes the layout while tables
// and plots are drawn.
startGraph();
startTables();
startPlots();
showComparison();
startNavigation();
chooseSide(0);
