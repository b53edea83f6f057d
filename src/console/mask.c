/* See mask.h. Reads the text once, from its beginning to its end, and copies what is not hidden byte by byte:
 * a key that stands there twice is hidden twice, and no number is rounded. */
#include "mask.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>
#include <unistr.h>

#include "common/messages.h"

enum { DEPTH_MAX = 64, PARTS_MAX = 20, NAME_SIZE = 128 };
static const char HIDDEN[] = "\"***\"";

/* A name, folded so that names that differ by case alone are equal. */
struct name {
    char *text;
    size_t length;
};

struct mask {
    bool pointer;
    size_t count;
    struct name parts[PARTS_MAX]; /* of a pointer; else the key alone */
};

struct masks {
    size_t count;
    struct mask of[MASKS_MAX];
};

/* For each mask how many parts of its pointer lead to what is being read: bit n, n of them. There may be
 * several, because a number in it is an element of a list, or a key in each of them. */
struct place {
    uint32_t done[MASKS_MAX];
};

struct reading {
    const struct masks *masks;
    const char *at;
    FILE *to; /* NULL: what is read is hidden */
    bool hidden, broken;
    int depth;
};

static void read_value(struct reading *reading, const struct place *place);

/* ---- Masks --------------------------------------------------------------------------------------------- */

static bool is_ascii(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((signed char)text[i] < 0) return false;
    return true;
}

/* In room where it is short and plain; else to be freed. Text NULL: it cannot be folded. */
static struct name fold(const char *text, size_t length, char room[NAME_SIZE]) {
    struct name name = {room, length};

    if (length > NAME_SIZE || !is_ascii(text, length)) {
        name.text =
            (char *)u8_casefold((const uint8_t *)text, length, NULL, UNINORM_NFKC, NULL, &name.length);
        return name;
    }
    for (size_t i = 0; i < length; i++)
        room[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 'a' - 'A' : text[i]);
    return name;
}

static struct name fold_part(const char *text, size_t length) {
    char room[NAME_SIZE];
    struct name name = fold(text, length, room);

    if (name.text == room) name.text = memcpy(cli_must(malloc(length + 1)), room, length);
    return name;
}

/* The next part of a pointer, decoded; gives what follows it. NULL: it is wrong. */
static const char *read_part(const char *pointer, struct name *part) {
    size_t length = strcspn(pointer + 1, "/"), used = 0;
    char *text = cli_must(malloc(length + 1));
    const char *end = pointer + 1 + length;

    for (const char *at = pointer + 1; at < end && used <= length; at++) {
        if (*at == '~' && at[1] != '0' && at[1] != '1') end = NULL;
        if (!end) break;
        text[used++] = (char)(*at != '~' ? *at : *++at == '1' ? '/' : '~');
    }
    *part = end ? fold_part(text, used) : (struct name){NULL, 0};
    free(text);
    return part->text ? end : NULL;
}

static bool read_mask(const char *text, struct mask *mask) {
    mask->pointer = *text == '/';
    mask->count = 1;
    if (u8_check((const uint8_t *)text, strlen(text))) return false;
    if (!mask->pointer) {
        mask->parts[0] = fold_part(text, strlen(text));
        return *text && mask->parts[0].text;
    }
    for (mask->count = 0; text && *text; mask->count += text != NULL) {
        if (mask->count == PARTS_MAX) return false;
        text = read_part(text, &mask->parts[mask->count]);
    }
    return text != NULL;
}

struct masks *masks_open(char *const *texts, const char **wrong) {
    struct masks *masks = cli_must(calloc(1, sizeof *masks));

    for (; texts && *texts; texts++) {
        if (masks->count < MASKS_MAX && read_mask(*texts, &masks->of[masks->count++])) continue;
        *wrong = *texts;
        masks_close(masks);
        return NULL;
    }
    return masks;
}

void masks_close(struct masks *masks) {
    for (size_t i = 0; masks && i < masks->count; i++)
        for (size_t part = 0; part < PARTS_MAX; part++)
            free(masks->of[i].parts[part].text);
    free(masks);
}

/* ---- Names --------------------------------------------------------------------------------------------- */

static bool is_same(const struct name *one, const struct name *other) {
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

static bool is_index(const struct name *part) {
    for (size_t i = 0; i < part->length; i++)
        if (part->text[i] < '0' || part->text[i] > '9')
            return part->length == 1 && (*part->text == '-' || *part->text == '*');
    return part->length > 0;
}

/* Where a member of this name, or an element of a list (NULL), stands. True: a mask says that it is hidden.
 */
static bool step(const struct masks *masks, const struct place *from, const struct name *name,
                 struct place *to) {
    bool hidden = false;

    for (size_t i = 0; i < masks->count; i++) {
        const struct mask *mask = &masks->of[i];
        uint32_t before = mask->pointer ? from->done[i] : 1;

        to->done[i] = name ? 0 : before;
        for (size_t done = 0; done < mask->count; done++) {
            const struct name *part = &mask->parts[done];

            if (before >> done & 1 && (name ? is_same(name, part) : mask->pointer && is_index(part)))
                to->done[i] |= UINT32_C(2) << done;
        }
        hidden |= to->done[i] >> mask->count & 1;
    }
    return hidden;
}

/* ---- Values -------------------------------------------------------------------------------------------- */

static void put(struct reading *reading, const char *from) {
    if (reading->to) (void)fwrite(from, 1, (size_t)(reading->at - from), reading->to);
}

static void skip_space(struct reading *reading) {
    const char *from = reading->at;

    reading->at += strspn(from, " \t\r\n");
    put(reading, from);
}

static bool take(struct reading *reading, char wanted) {
    if (*reading->at != wanted) return false;
    reading->at++;
    put(reading, reading->at - 1);
    return true;
}

/* Over a text; false: it has no end. */
static bool pass_text(struct reading *reading) {
    const char *at = reading->at;

    if (*at++ != '"') return false;
    for (; *at && *at != '"'; at++)
        if (*at == '\\' && *++at == '\0') return false;
    reading->at = at + (*at == '"');
    return *at == '"';
}

/* What the text from begin to where it is now says; NULL: it is none. To be given to json_object_put. */
static json_object *decode(const struct reading *reading, const char *begin) {
    json_tokener *tokener = cli_must(json_tokener_new());
    json_object *text;

    json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8); /* strict: in 0.18 of ASCII alone */
    text = json_tokener_parse_ex(tokener, begin, (int)(reading->at - begin));
    json_tokener_free(tokener);
    return text;
}

static void hide(struct reading *reading) {
    reading->hidden = true;
    if (reading->to) fputs(HIDDEN, reading->to);
}

/* Behind white space and byte order marks. */
static const char *pass_blank(const char *text) {
    static const char mark[] = "\xef\xbb\xbf";

    for (;;) {
        text += strspn(text, " \t\r\n\v\f");
        if (strncmp(text, mark, strlen(mark)) != 0) return text;
        text += strlen(mark);
    }
}

/* JSON in a text, as messages have it that were wrapped, once or several times: hidden as a whole when any of
 * it is, when it begins as JSON and is none to its end, or when what stands behind a NUL would not be read.
 */
static bool text_is_fine(const struct reading *reading, json_object *text, const struct place *place) {
    const char *inner = json_object_get_string(text);
    struct reading within = {.masks = reading->masks, .at = pass_blank(inner), .depth = reading->depth + 1};

    if (strlen(inner) != (size_t)json_object_get_string_len(text)) return false;
    if (!*within.at || !strchr("{[\"", *within.at)) return true;
    if (within.depth > DEPTH_MAX) return false;
    read_value(&within, place);
    return !within.broken && !within.hidden && !*pass_blank(within.at);
}

static void read_text(struct reading *reading, const struct place *place) {
    const char *begin = reading->at;
    json_object *text = pass_text(reading) ? decode(reading, begin) : NULL;

    if (!text)
        reading->broken = true;
    else if (text_is_fine(reading, text, place))
        put(reading, begin);
    else
        hide(reading);
    json_object_put(text);
}

static void read_hidden(struct reading *reading) {
    static const struct place nowhere;
    FILE *to = reading->to;

    reading->to = NULL;
    read_value(reading, &nowhere);
    reading->to = to;
    hide(reading);
}

/* A member of an object: its name, and where its value stands. Gives whether that is hidden. */
static bool read_name(struct reading *reading, const struct place *place, struct place *inner) {
    const char *begin = reading->at;
    json_object *text = pass_text(reading) ? decode(reading, begin) : NULL;
    char room[NAME_SIZE];
    struct name name = {NULL, 0};
    bool hidden = false;

    if (text) name = fold(json_object_get_string(text), (size_t)json_object_get_string_len(text), room);
    reading->broken |= !name.text;
    if (name.text) {
        put(reading, begin);
        hidden = step(reading->masks, place, &name, inner);
        if (name.text != room) free(name.text);
    }
    json_object_put(text);
    skip_space(reading);
    reading->broken |= !take(reading, ':');
    return hidden;
}

static void read_members(struct reading *reading, const struct place *place, bool named, char end) {
    reading->at++;
    put(reading, reading->at - 1);
    skip_space(reading);
    if (take(reading, end)) return;
    while (!reading->broken) {
        struct place inner;
        bool hidden;

        skip_space(reading);
        hidden = named ? read_name(reading, place, &inner) : step(reading->masks, place, NULL, &inner);
        if (reading->broken) return;
        skip_space(reading);
        if (hidden)
            read_hidden(reading);
        else
            read_value(reading, &inner);
        skip_space(reading);
        if (take(reading, end)) return;
        reading->broken |= !take(reading, ',');
    }
}

static const char *pass_digits(const char *at) {
    return at + strspn(at, "0123456789");
}

/* Of a number as JSON has it; 0: it is none. */
static size_t number_length(const char *text) {
    const char *whole = text + (*text == '-'), *at = pass_digits(whole), *part;

    if (at == whole || (*whole == '0' && at > whole + 1)) return 0;
    if (*at == '.') {
        part = at + 1;
        at = pass_digits(part);
        if (at == part) return 0;
    }
    if (*at == 'e' || *at == 'E') {
        part = at + 1 + (at[1] == '+' || at[1] == '-');
        at = pass_digits(part);
        if (at == part) return 0;
    }
    return (size_t)(at - text);
}

/* Of a number, or one of JSON's three words; 0: it is neither. */
static size_t bare_length(const char *text) {
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) return strlen(words[i]);
    return number_length(text);
}

static void read_value(struct reading *reading, const struct place *place) {
    const char *begin = reading->at;

    if (++reading->depth > DEPTH_MAX) {
        reading->broken = true;
    } else if (*begin == '{' || *begin == '[') {
        read_members(reading, place, *begin == '{', *begin == '{' ? '}' : ']');
    } else if (*begin == '"') {
        read_text(reading, place);
    } else {
        reading->at += bare_length(begin);
        reading->broken |= reading->at == begin;
        put(reading, begin);
    }
    reading->depth--;
}

char *mask_text(const struct masks *masks, const char *text, bool *hidden) {
    struct reading reading = {.masks = masks, .at = text};
    struct place top = {{0}};
    char *shown = NULL;
    size_t length;

    *hidden = false;
    if (!masks->count || !*text) return cli_must(strdup(text));
    for (size_t i = 0; i < masks->count; i++)
        top.done[i] = 1;
    reading.to = cli_must(open_memstream(&shown, &length));
    skip_space(&reading);
    read_value(&reading, &top);
    skip_space(&reading);
    reading.broken |= *reading.at != '\0';
    cli_must(fclose(reading.to) == 0 ? shown : NULL);
    *hidden = reading.hidden || reading.broken;
    if (!reading.broken) return shown;
    free(shown);
    return cli_must(strdup(HIDDEN));
}
