/* Text: the UTF-8 check agrees with libunistring's, a cut or a copy leaves whole characters, a JSON string is
 * read back the same, and UUIDs have one form. */
#include <ctype.h>
#include <json-c/json.h>
#include <unistr.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "fuzz.h"

static void check_cut(const char *text, size_t length, size_t limit) {
    size_t cut = tpi_utf8_cut(text, length, limit);
    require(cut <= limit || cut == length);
    require(cut <= length);
    require(length <= limit ? cut == length : cut + 4 > limit);
    require(tpi_utf8_valid(text, cut) && tpi_utf8_valid(text + cut, length - cut));
}

static void check_copy(const char *text, size_t room) {
    char *out = malloc(room);
    require(out != NULL);
    tpi_utf8_copy(text, out, room);
    size_t length = strlen(out);
    require(length < room && length <= strlen(text) && tpi_utf8_valid(out, length));
    for (const char *at = out; *at; at++)
        require((unsigned char)*at >= 0x20);
    require(length == strlen(text) || length + 4 >= room);
    free(out);
}

static void check_json(const char *text) {
    struct tpi_buf out = {0};
    tpi_buf_json(&out, text);
    json_object *value = json_tokener_parse(out.data);
    require(json_object_is_type(value, json_type_string));
    require(strcmp(json_object_get_string(value), text) == 0);
    json_object_put(value);
    tpi_buf_free(&out);
}

static bool looks_like_uuid(const char *text) {
    if (strlen(text) != 36) return false;
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

static void check_uuid(const char *text) {
    char normal[TPI_UUID_SIZE], again[TPI_UUID_SIZE];
    bool taken = tpi_uuid_normal(text, normal);
    require(taken == looks_like_uuid(text));
    if (!taken) return;
    for (int i = 0; i < TPI_UUID_SIZE; i++)
        require(normal[i] == (char)tolower((unsigned char)text[i]));
    require(tpi_uuid_normal(normal, again) && strcmp(normal, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz fuzz = {data, size};
    size_t limit = fuzz_byte(&fuzz);
    require(tpi_utf8_valid((const char *)fuzz.at, fuzz.left) == !u8_check(fuzz.at, fuzz.left));
    char *text = fuzz_rest(&fuzz), named[TPI_UUID_SIZE];
    check_copy(text, limit + 1);
    check_uuid(text);
    tpi_uuid_named(text, named);
    require(looks_like_uuid(named) && named[14] == '5');
    if (tpi_utf8_valid(text, strlen(text))) {
        check_cut(text, strlen(text), limit);
        check_json(text);
    }
    free(text);
    return 0;
}
