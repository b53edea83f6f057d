/* See embed_words.h. A line of a file of words: NAME = TEXT. A line that begins with a blank goes on with the
 * text; one that begins with -- is a comment. In TEXT a $ stands for what the statement says after the word's
 * name, and other words may be used. */
#include "embed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 120, NAME_BYTES = 32, WORD_BYTES = 1024, LINE_BYTES = 512, EXPANSIONS_MAX = 1000 };

static struct word {
    char name[NAME_BYTES], text[WORD_BYTES];
    bool lacking;
} words[WORDS_MAX];
static int word_count;
static const char *pool; /* of the statement, or NULL */

/* The words whose texts are marks (src/dialect/dialect.h). */
static const struct word marks[] = {
    {.name = "rows", .text = "\003 $ \004"},
    {.name = "if_shards", .text = "\005 $ \006"},
    {.name = "but_0", .text = "\007 $"},
    {.name = "grouped", .text = "\010"},
};

static struct word *find(const char *name, size_t length) {
    for (int i = 0; i < word_count; i++)
        if (strlen(words[i].name) == length && strncmp(words[i].name, name, length) == 0) return &words[i];
    return NULL;
}

static void append(struct word *word, const char *text) {
    size_t used = strlen(word->text), length = strlen(text);
    if (used + length >= sizeof word->text) embed_die("the text of a word is too long", word->name);
    memcpy(word->text + used, text, length + 1);
}

/* The word whose line it is, without a text. A dialect's own words are those of sql/common. */
static struct word *word_of(const char *line, size_t length, bool own) {
    struct word *word = find(line, length);
    if (length == 0 || length >= NAME_BYTES) embed_die("a word without a name, or with a long one", line);
    if (own && !word) embed_die("a word that sql/common/words does not list", line);
    if (!own && (word || word_count == WORDS_MAX)) embed_die("a word twice, or too many", line);
    if (!word) {
        word = &words[word_count++];
        memcpy(word->name, line, length);
    }
    word->text[0] = '\0';
    return word;
}

static void read_words(FILE *file, bool own) {
    char line[LINE_BYTES];
    struct word *word = NULL;
    while (fgets(line, sizeof line, file)) {
        char *end = line + strlen(line);
        if (end == line + sizeof line - 1) embed_die("a line is too long", line);
        while (end > line && isspace((unsigned char)end[-1]))
            *--end = '\0';
        if (!*line || strncmp(line, "--", 2) == 0) continue;
        if (*line == ' ') {
            if (!word) embed_die("a text without its word", line);
            append(word, "\n");
            append(word, line);
            continue;
        }
        const char *text = strchr(line, '=');
        if (!text && !own) embed_die("want NAME = TEXT", line);
        word = word_of(line, strcspn(line, " ="), own);
        word->lacking = !text;
        if (text) append(word, text + 1 + strspn(text + 1, " "));
    }
}

void embed_words_common(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) embed_die("cannot read", path);
    read_words(file, false);
    fclose(file);
}

void embed_words_own(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return;
    read_words(file, true);
    fclose(file);
}

/* The } that belongs to the { at open. */
static char *closing(char *open) {
    int depth = 0;
    for (char *at = open; *at; at++) {
        depth += (*at == '{') - (*at == '}');
        if (depth == 0) return at;
    }
    embed_die("a { is not closed", open);
}

/* The word of that name: a mark, what it is for the pool, or what it is for all. */
static const struct word *meant(const char *name, size_t length) {
    char of_pool[2 * NAME_BYTES];
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strlen(marks[i].name) == length && strncmp(marks[i].name, name, length) == 0) return &marks[i];
    if (pool && length < NAME_BYTES) {
        int of_pool_length = snprintf(of_pool, sizeof of_pool, "%.*s_%s", (int)length, name, pool);
        const struct word *word = find(of_pool, (size_t)of_pool_length);
        if (word) return word;
    }
    return find(name, length);
}

/* The text of the word at inside (NAME or NAME ARGUMENT). False: the dialect lacks it. */
static bool say(const char *inside, char *out, size_t size) {
    size_t length = strcspn(inside, " \n"), used = 0;
    const struct word *word = meant(inside, length);
    if (!word) embed_die("no such word", inside);
    out[0] = '\0';
    if (word->lacking) return false;
    const char *argument = inside + length + strspn(inside + length, " \n");
    if (!strchr(word->text, '$') != !*argument) embed_die("a word is given too much or too little", inside);
    for (const char *at = word->text; *at; at++) {
        const char *from = *at == '$' ? argument : at;
        size_t count = *at == '$' ? strlen(argument) : 1;
        if (used + count >= size) embed_die("too long", word->name);
        memcpy(out + used, from, count);
        used += count;
    }
    out[used] = '\0';
    return true;
}

void embed_words_pool(const char *name) {
    pool = name;
}

bool embed_words_expand(char *text, size_t size) {
    static char said[16 * 1024], rest[64 * 1024];
    int left = EXPANSIONS_MAX;
    bool has_all = true;
    for (char *open; (open = strchr(text, '{'));) {
        char *close = closing(open);
        if (left-- == 0) embed_die("words stand for each other", open);
        *close = '\0';
        has_all = say(open + 1, said, sizeof said) && has_all;
        size_t before = (size_t)(open - text), length = strlen(said), after = strlen(close + 1);
        if (after >= sizeof rest || before + length + after >= size) embed_die("too long", said);
        memcpy(rest, close + 1, after + 1);
        memcpy(open, said, length);
        memcpy(open + length, rest, after + 1);
    }
    if (strchr(text, '}')) embed_die("a } closes nothing", text);
    return has_all;
}
