#include "llm/tokenizer/split_rules.h"

// Parts of regular expressions that several families of models use.
#define EMBER_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define EMBER_GPT2                               \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|" \
  " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define EMBER_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
// Matches the endings of English contractions; a word of letters, with at most
// one other character before it; numbers as `digits` says; sequences of other
// characters; and white space.
#define EMBER_WORDS(digits)                                   \
  EMBER_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
                     "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" EMBER_SPACES
#define EMBER_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define EMBER_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
// Like EMBER_WORDS, but all upper case letters of a word come before its lower
// case ones, and `contractions` is the pattern of a contraction's ending, which
// stays with its word.
#define EMBER_CASED_WORDS(contractions, digits)                          \
  "[^\\r\\n\\p{L}\\p{N}]?" EMBER_UPPER "*" EMBER_LOWER "+" contractions  \
  "|[^\\r\\n\\p{L}\\p{N}]?" EMBER_UPPER "+" EMBER_LOWER "*" contractions \
  "|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" EMBER_SPACES
#define EMBER_DEEPSEEK_WORDS                              \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" \
  "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "        \
  "?[\\p{P}\\p{S}]+[\\r\\n]*|" EMBER_SPACES

// A character class of the letters of all scripts that have upper and lower
// case.
#define EMBER_CASED_LETTERS                                              \
  "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}"          \
  "\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}\\x{370}-\\x{373}" \
  "\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}"   \
  "\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}"          \
  "\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}"                \
  "\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}"            \
  "\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"            \
  "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}"            \
  "\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}"   \
  "\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}"             \
  "\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}"   \
  "\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}"            \
  "\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}"             \
  "\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}"    \
  "\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}"             \
  "\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}"    \
  "\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}"   \
  "\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}"   \
  "\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}"            \
  "\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}"            \
  "\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}"        \
  "\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}"      \
  "\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}"

namespace ember::llm {
namespace {

using Text = std::string_view;

constexpr Text kGpt2[] = {EMBER_GPT2};
constexpr Text kLlama3[] = {EMBER_WORDS("\\p{N}{1,3}")};
constexpr Text kQwen2[] = {EMBER_WORDS("\\p{N}")};
constexpr Text kQwen35[] = {
    EMBER_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" EMBER_SPACES};
constexpr Text kDigitsThenGpt2[] = {"\\p{N}", EMBER_GPT2};
constexpr Text kFalcon[] = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", EMBER_GPT2,
                            "[0-9][0-9][0-9]"};
constexpr Text kDefault[] = {"[\\p{P}\\$\\+<=>\\^~\\|]+", EMBER_GPT2, "\\p{N}+",
                             "[0-9][0-9][0-9]"};
constexpr Text kDeepSeekLlm[] = {"[\\r\\n]",
                                 "\\s?[" EMBER_CASED_LETTERS "]+",
                                 "\\s?[!-/:-~！-／：-～‘-‟　-。]+",
                                 "\\s+$",
                                 "[一-龥ࠀ-一가-퟿]+",
                                 "\\p{N}+"};
constexpr Text kDeepSeekCoder[] = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
                                   "[一-龥ࠀ-一가-퟿]+", "\\p{N}"};
constexpr Text kDeepSeek3[] = {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                               EMBER_DEEPSEEK_WORDS};
constexpr Text kBloom[] = {" ?[^(\\s|.,!?…。，、।۔،)]+"};
constexpr Text kViking[] = {" ?[^(\\s|.,!?…。，、।۔،)]+", "\\p{N}"};
constexpr Text kTekken[] = {EMBER_CASED_WORDS("", "\\p{N}")};
constexpr Text kGpt4o[] = {
    EMBER_CASED_WORDS(EMBER_CONTRACTIONS "?", "\\p{N}{1,3}")};
constexpr Text kTinyAya[] = {
    "\\d{1,3}(?=(?:\\d{3})*\\b)",
    EMBER_CASED_WORDS(EMBER_CONTRACTIONS "?", "\\p{N}{1,3}")};
constexpr Text kSuperBpe[] = {"\\p{N}+", "(?=(\\d{3})+(?!\\d))"};
constexpr Text kBailingMoe[] = {
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"};
constexpr Text kSeedCoder[] = {EMBER_CONTRACTIONS
                               "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
                               "| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" EMBER_SPACES};
constexpr Text kExaoneMoe[] = {
    EMBER_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"};
constexpr Text kChameleon[] = {
    "<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    "([\\t\\n]|    |  )", "\\p{N}",
    // EMBER_GPT2 is one pattern, written as several adjacent literals.
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
    "[\\p{P}!-/:-@\\[-`{-~]", EMBER_GPT2};

constexpr Text kGpt2Names[] = {
    "gpt-2",        "phi-2",       "jina-es",    "jina-de",
    "gigachat",     "jina-v2-es",  "jina-v2-de", "jina-v1-en",
    "jina-v2-code", "roberta-bpe", "exaone4",    "mpt",
    "olmo",         "jais",        "trillion",   "granite-docling",
    "a.x-4.0",      "mellum",      "modern-bert"};
constexpr Text kLlama3Names[] = {"llama3",   "llama-v3",  "llama-bpe",
                                 "falcon3",  "falcon-h1", "pixtral",
                                 "midm-2.0", "lfm2",      "jina-v5-nano"};
constexpr Text kLlama3MergedNames[] = {"dbrx", "smaug-bpe", "chatglm-bpe",
                                       "glm4"};
constexpr Text kQwen2Names[] = {"qwen2",   "deepseek-r1-qwen", "kormo",
                                "f2llmv2", "megrez",           "stablelm2",
                                "hunyuan", "solar-open",       "grok-2"};
constexpr Text kQwen35Names[] = {"qwen35"};
constexpr Text kDigitsNames[] = {"starcoder",  "refact",    "command-r",
                                 "smollm",     "codeshell", "exaone",
                                 "minerva-7b", "mellum2"};
constexpr Text kFalconNames[] = {"falcon"};
constexpr Text kDefaultNames[] = {"default"};
constexpr Text kDeepSeekLlmNames[] = {"deepseek-llm"};
constexpr Text kDeepSeekCoderNames[] = {"deepseek-coder"};
constexpr Text kDeepSeek3Names[] = {"deepseek-v3", "hunyuan-dense",
                                    "joyai-llm"};
constexpr Text kBloomNames[] = {"bloom", "poro-chat", "gpt3-finnish"};
constexpr Text kVikingNames[] = {"viking"};
constexpr Text kTekkenNames[] = {"tekken"};
constexpr Text kGpt4oNames[] = {"gpt-4o", "llama4", "kanana2", "minimax-m2",
                                "talkie"};
constexpr Text kTinyAyaNames[] = {"tiny_aya", "cohere2moe"};
constexpr Text kSuperBpeNames[] = {"superbpe"};
constexpr Text kBailingMoeNames[] = {"bailingmoe", "bailingmoe2", "llada-moe"};
constexpr Text kSeedCoderNames[] = {"seed-coder"};
constexpr Text kExaoneMoeNames[] = {"exaone-moe"};
constexpr Text kChameleonNames[] = {"chameleon"};

constexpr SplitRules kRules[] = {
    {kGpt2Names, kGpt2},
    {kLlama3Names, kLlama3, /*ignores_merges=*/true, /*adds_begin=*/true},
    {kLlama3MergedNames, kLlama3},
    {kQwen2Names, kQwen2},
    {kQwen35Names, kQwen35},
    {kDigitsNames, kDigitsThenGpt2},
    {kFalconNames, kFalcon},
    {kDefaultNames, kDefault},
    {kDeepSeekLlmNames, kDeepSeekLlm},
    {kDeepSeekCoderNames, kDeepSeekCoder},
    {kDeepSeek3Names, kDeepSeek3},
    {kBloomNames, kBloom},
    {kVikingNames, kViking},
    {kTekkenNames, kTekken, /*ignores_merges=*/true, /*adds_begin=*/true},
    {kGpt4oNames, kGpt4o},
    {kTinyAyaNames, kTinyAya},
    {kSuperBpeNames, kSuperBpe},
    {kBailingMoeNames, kBailingMoe},
    {kSeedCoderNames, kSeedCoder},
    {kExaoneMoeNames, kExaoneMoe},
    {kChameleonNames, kChameleon, /*ignores_merges=*/false,
     /*adds_begin=*/true},
};

}  // namespace

const std::string_view kGpt2Pattern = EMBER_GPT2;

const SplitRules* FindSplitRules(std::string_view name) {
  for (const SplitRules& rules : kRules) {
    for (const Text known : rules.names) {
      if (known == name) return &rules;
    }
  }
  return nullptr;
}

std::string SplitRuleNames() {
  std::string result;
  for (const SplitRules& rules : kRules) {
    for (const Text name : rules.names) {
      if (!result.empty()) result += ", ";
      result += name;
    }
  }
  return result;
}

}  // namespace ember::llm
