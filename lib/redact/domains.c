#include "lib/redact/domains.h"

#include "lib/redact/public_words.h"

#define IS_IN(text, words) is_in((text), (words), sizeof(words) / sizeof *(words))

/* Tops that no function, op or file of a program ends with. */
static const char *const sure[] = {"ai",    "arpa",  "cloud",   "cluster", "co",          "com",  "corp",
                                   "dev",   "edu",   "example", "gov",     "hpc",         "info", "internal",
                                   "intra", "io",    "lan",     "local",   "localdomain", "mil",  "net",
                                   "org",   "slurm", "svc",     "xyz"};

/* Those that names of functions and ops may end with too: of countries, and words. */
static const char *const likely[] = {
    "ac",      "ad",       "ae",          "af",         "ag",     "al",       "am",        "ao",        "app",
    "aq",      "ar",       "as",          "asia",       "at",     "au",       "aw",        "ax",        "az",
    "ba",      "bank",     "bb",          "bd",         "be",     "berlin",   "bf",        "bg",        "bh",
    "bi",      "biz",      "bj",          "blog",       "bm",     "bn",       "bo",        "br",        "bs",
    "bt",      "bv",       "bw",          "by",         "bz",     "ca",       "cafe",      "cat",       "cc",
    "cd",      "cern",     "cf",          "cg",         "ch",     "ci",       "ck",        "cl",        "cm",
    "cn",      "computer", "cr",          "cu",         "cv",     "cw",       "cx",        "cy",        "cz",
    "de",      "digital",  "dj",          "dk",         "dm",     "dz",       "ec",        "education", "ee",
    "eg",      "energy",   "engineering", "er",         "es",     "et",       "eu",        "fi",        "fj",
    "fk",      "fm",       "fo",          "fr",         "ga",     "gb",       "gd",        "ge",        "gf",
    "gg",      "gh",       "gi",          "gl",         "gm",     "gn",       "gp",        "gq",        "gr",
    "gs",      "gt",       "gu",          "gw",         "gy",     "health",   "hk",        "hm",        "hn",
    "hosting", "hr",       "ht",          "hu",         "ie",     "il",       "im",        "in",        "institute",
    "invalid", "iq",       "ir",          "it",         "je",     "jm",       "jo",        "jobs",      "jp",
    "ke",      "kg",       "kh",          "ki",         "km",     "kn",       "kp",        "kr",        "kw",
    "ky",      "kz",       "la",          "lb",         "lc",     "li",       "lk",        "lr",        "ls",
    "lt",      "lu",       "lv",          "ly",         "ma",     "mc",       "md",        "me",        "mg",
    "mh",      "mk",       "ml",          "mn",         "mo",     "mobi",     "moe",       "mp",        "mq",
    "mr",      "ms",       "mt",          "mu",         "museum", "mv",       "mw",        "mx",        "mz",
    "na",      "nc",       "ne",          "nf",         "ng",     "ni",       "nl",        "no",        "np",
    "nr",      "nu",       "nz",          "om",         "onion",  "online",   "pa",        "paris",     "pe",
    "pf",      "pg",       "ph",          "phd",        "pk",     "pl",       "pm",        "pn",        "pr",
    "ps",      "pt",       "pw",          "qa",         "re",     "ro",       "rs",        "ru",        "rw",
    "sa",      "sb",       "sc",          "sd",         "se",     "sg",       "sh",        "shop",      "si",
    "site",    "sk",       "sl",          "sm",         "sn",     "software", "solutions", "sr",        "ss",
    "st",      "studio",   "su",          "sv",         "sx",     "sy",       "systems",   "sz",        "tc",
    "td",      "team",     "tech",        "technology", "tel",    "test",     "tf",        "tg",        "th",
    "tj",      "tk",       "tl",          "tm",         "tn",     "tokyo",    "tr",        "travel",    "tt",
    "tv",      "tw",       "tz",          "ua",         "ug",     "uk",       "us",        "uy",        "uz",
    "va",      "vc",       "ve",          "ventures",   "vg",     "vi",       "vip",       "vn",        "vu",
    "website", "wf",       "wiki",        "world",      "ws",     "ye",       "yt",        "za",        "zm",
    "zone",    "zw"};

/* Those that functions of everybody do end with ("tensor.to"). */
static const char *const unlikely[] = {"do", "id", "is", "mm", "my", "py", "so", "to"};
/* What many countries have below themselves ("example.co.id"). */
static const char *const seconds[] = {"ac", "co", "com", "edu", "go", "gob", "gov", "net", "or", "org"};

static int is_in(struct ids_text text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ids_text_is(text, words[i])) return 1;
    }
    return 0;
}

/* What stands between the dots before `end`, and moves it there; empty where nothing is left. */
static struct ids_text label_before(struct ids_text name, uint32_t *end) {
    uint32_t from = *end;
    while (from && name.at[from - 1] != '.') from--;
    struct ids_text label = {name.at + from, *end - from};
    *end = from ? from - 1 : 0;
    return label;
}

int ids_is_domain(struct ids_text name) {
    uint32_t end = name.length;
    struct ids_text top = label_before(name, &end);
    if (!end) return 0;
    if (IS_IN(top, sure)) return 1;
    struct ids_text second = label_before(name, &end);
    if (!end || ids_words_are_public(name)) return 0;
    return IS_IN(top, likely) || (IS_IN(top, unlikely) && IS_IN(second, seconds));
}
