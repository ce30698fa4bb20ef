#include "llm/tokenizer/split_rules.h"

// Parts that several patterns share.
#define EMBER_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define EMBER_GPT2                               \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|" \
  " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define EMBER_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
// A word of letters with one character before it, digits as `digits` says,
// other characters.
#define EMBER_WORDS(digits)                                   \
  EMBER_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
                     "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" EMBER_SPACES
#define EMBER_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define EMBER_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
// A word whose upper case letters come first.
#define EMBER_CASED_WORDS(contractions, digits)                          \
  "[^\\r\\n\\p{L}\\p{N}]?" EMBER_UPPER "*" EMBER_LOWER "+" contractions  \
  "|[^\\r\\n\\p{L}\\p{N}]?" EMBER_UPPER "+" EMBER_LOWER "*" contractions \
  "|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" EMBER_SPACES
#define EMBER_DEEPSEEK_WORDS                              \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" \
  "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "        \
  "?[\\p{P}\\p{S}]+[\\r\\n]*|" EMBER_SPACES

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
// The letters of scripts with two cases.
constexpr Text kDeepSeekLlm[] = {
    "[\\r\\n]",
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-"
    "Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭ"
    "ℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲"
    "𑢠-𑣟𞤀-𞥃]+",
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
    "<sentinel:[0-9]+>",      "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    "([\\t\\n]|    |  )",     "\\p{N}",
    "[\\p{P}!-/:-@\\[-`{-~]", EMBER_GPT2};

constexpr Text kGpt2Names[] = {
    "gpt-2",        "phi-2",       "jina-es",    "jina-de",
    "gigachat",     "jina-v2-es",  "jina-v2-de", "jina-v1-en",
    "jina-v2-code", "roberta-bpe", "exaone4",    "mpt",
    "olmo",         "jais",        "trillion",   "granite-docling"};
constexpr Text kLlama3Names[] = {"llama3",   "llama-v3",  "llama-bpe",
                                 "falcon3",  "falcon-h1", "pixtral",
                                 "midm-2.0", "lfm2"};
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
constexpr Text kGpt4oNames[] = {"gpt-4o", "llama4", "kanana2", "minimax-m2"};
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
