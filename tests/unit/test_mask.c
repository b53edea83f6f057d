/* What of parameters is hidden, and that nothing else is changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/messages.h"
#include "console/mask.h"
#include "support/test.h"

/* As the program has it. */
void *cli_must(void *ptr) {
    if (!ptr) abort();
    return ptr;
}

static char *const keys[] = {"iban", "Pass-Word",
                             "gr\xc3\xb6\xc3\x9f"
                             "e",
                             NULL};
static char *const pointers[] = {"/customer/name", "/payments/0/card", "/a~1b/m~0n", "/0/pin", NULL};

static void shows(char *const *texts, const char *text, const char *wanted) {
    const char *wrong = NULL;
    struct masks *masks = masks_open(texts, &wrong);
    bool hidden;
    char *shown;

    assert_non_null(masks);
    shown = mask_text(masks, text, &hidden);
    assert_string_equal(shown, wanted ? wanted : text);
    assert_int_equal(hidden, wanted != NULL);
    free(shown);
    masks_close(masks);
}

TEST(test_mask__hides_values_by_their_keys) {
    shows(keys, "{\"iban\":\"DE1\",\"amount\":12.50}", "{\"iban\":\"***\",\"amount\":12.50}");
    shows(keys, "{\"IBAN\" : 5}", "{\"IBAN\" : \"***\"}");
    shows(keys, "{\"a\":[1,{\"iBan\":[\"x\",{\"y\":2}]},3]}", "{\"a\":[1,{\"iBan\":\"***\"},3]}");
    shows(keys, "{\"iban\":1,\"iban\":2}", "{\"iban\":\"***\",\"iban\":\"***\"}");
    shows(keys, "{\"a\":{\"iban\":1},\"a\":0}", "{\"a\":{\"iban\":\"***\"},\"a\":0}");
    shows(keys, "{\"\\u0069b\\u0061n\":1}", "{\"\\u0069b\\u0061n\":\"***\"}");
    shows(keys, "{\"PASS-word\":null}", "{\"PASS-word\":\"***\"}");
    shows(keys, "{\"GR\xc3\x96SSE\":1}", "{\"GR\xc3\x96SSE\":\"***\"}");
    shows(keys, "{\"\xef\xbd\x89\xef\xbd\x82\xef\xbd\x81\xef\xbd\x8e\":1}",
          "{\"\xef\xbd\x89\xef\xbd\x82\xef\xbd\x81\xef\xbd\x8e\":\"***\"}");
}

TEST(test_mask__leaves_the_rest_byte_by_byte) {
    shows(keys,
          " {\"ibans\": 123456789012345678901234567890.10 ,\n\"x\":\"\\u0041\\\"}\",\"y\":[ ],\"z\":{ }} ",
          NULL);
    shows(keys, "[true,false,null,-1.5e+3,0,-0,10,0.25,1E-2,7e5]", NULL);
    shows(keys, "\"iban\"", NULL);
    shows(keys, "", NULL);
    shows((char *const[]){NULL}, "iban: DE1", NULL);
}

TEST(test_mask__hides_what_a_pointer_leads_to) {
    shows(pointers, "{\"customer\":{\"name\":\"x\",\"no\":1},\"name\":2}",
          "{\"customer\":{\"name\":\"***\",\"no\":1},\"name\":2}");
    shows(pointers, "{\"customer\":[{\"name\":1},{\"name\":2}]}",
          "{\"customer\":[{\"name\":\"***\"},{\"name\":\"***\"}]}");
    shows(pointers, "{\"payments\":[{\"card\":1},{\"card\":2}],\"card\":3}",
          "{\"payments\":[{\"card\":\"***\"},{\"card\":\"***\"}],\"card\":3}");
    shows(pointers, "{\"a/b\":{\"m~n\":1}}", "{\"a/b\":{\"m~n\":\"***\"}}");
    shows(pointers, "[{\"pin\":1},{\"pin\":2}]", "[{\"pin\":\"***\"},{\"pin\":\"***\"}]");
    shows(pointers, "{\"other\":{\"customer\":{\"name\":1}}}", NULL);
    /* A number that is a key. */
    shows(pointers, "{\"payments\":{\"0\":{\"card\":1},\"1\":{\"card\":2}}}",
          "{\"payments\":{\"0\":{\"card\":\"***\"},\"1\":{\"card\":2}}}");
    shows(pointers, "{\"payments\":[{\"0\":{\"card\":1}},[{\"card\":2}]]}",
          "{\"payments\":[{\"0\":{\"card\":\"***\"}},[{\"card\":\"***\"}]]}");
    shows(pointers, "[{\"0\":{\"pin\":1}},{\"0\":[{\"pin\":2}]}]",
          "[{\"0\":{\"pin\":\"***\"}},{\"0\":[{\"pin\":\"***\"}]}]");
}

TEST(test_mask__looks_into_json_that_is_a_text) {
    shows(keys, "{\"m\":\"{\\\"iban\\\":1}\",\"n\":1}", "{\"m\":\"***\",\"n\":1}");
    shows(keys, "{\"m\":\" [{\\\"x\\\":\\\"{\\\\\\\"iban\\\\\\\":1}\\\"}]\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"{\\\"other\\\":1}\"}", NULL);
    shows(keys, "{\"m\":\"{\\\"iban\\\":\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"{}\\u0000{\\\"iban\\\":1}\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"\\\"{\\\\\\\"iban\\\\\\\":1}\\\"\"}", "{\"m\":\"***\"}"); /* wrapped twice */
    shows(keys, "{\"m\":\"\\ufeff\\u000b{\\\"iban\\\":1}\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"{} {\\\"iban\\\":1}\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"\\\"quoted\\\", and more\"}", "{\"m\":\"***\"}");
    shows(keys, "{\"m\":\"\\\"quoted\\\" \",\"n\":\"\\ufeff\",\"o\":\"it is \\\"x\\\"\"}", NULL);
    shows(pointers, "\"{\\\"customer\\\":{\\\"name\\\":1}}\"", "\"***\"");
}

TEST(test_mask__hides_all_that_is_no_json) {
    static const char *const texts[] = {
        "iban=DE1",
        "DE1",
        "{\"iban\":1",
        "{\"iban\" 1}",
        "{\"a\":1} {",
        "{iban:1}",
        "{'iban':1}",
        "[1,2",
        "\"x",
        "\"\\",
        "\"\\u12\"",
        "{\"a\":tru}",
        "{\"a\":1,}",
        "[,]",
        "nullx",
        "//{\"iban\":1}",
        "/**/{\"x\":1}",
        "{\"x\":\"\xff\"}",
        "<iban>1</iban>",
        "{\"a\":NaN}",
        "\xef\xbb\xbf{}",
        "{\"a\":01x}",
        " ",
        "{\"a\"}",
        "{\"a\":3+,\"iban\":1}",
        "[1.]",
        "[.5]",
        "[-]",
        "[1e]",
        "[1e+]",
        "[007]",
        "[--1]",
    };
    char deep[401] = "";

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        shows(keys, texts[i], "\"***\"");
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    shows(keys, deep, "\"***\"");
}

TEST(test_mask__refuses_what_is_no_mask) {
    static char *const wrong[][2] = {{"", NULL}, {"/a~2", NULL}, {"/a~", NULL}, {"\xff", NULL}};
    char *many[MASKS_MAX + 2] = {NULL};
    const char *which = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(masks_open(wrong[i], &which));
    for (size_t i = 0; i <= MASKS_MAX; i++)
        many[i] = keys[0];
    assert_null(masks_open(many, &which));
}
