/* Shards by key: the published hash, its range, and how evenly real keys fall. */
#include "core/shard.h"
#include "ops/sharding.h"
#include "support/test.h"

/* From the test vectors that the hash's authors publish. */
static const struct {
    const char *text;
    uint32_t hash;
} vectors[] = {
    {"", 0x811c9dc5},
    {"a", 0xe40c292c},
    {"b", 0xe70c2de5},
    {"c", 0xe60c2c52},
    {"d", 0xe10c2473},
    {"e", 0xe00c22e0},
    {"f", 0xe30c2799},
    {"fo", 0x6222e842},
    {"foo", 0xa9f37ed7},
    {"foob", 0x3f5076ef},
    {"fooba", 0x39aaa18a},
    {"foobar", 0xbf9cf968},
    {"chongo was here!\n", 0xd49930d5},
};

TEST(test_shard__hashes_as_published) {
    for (size_t i = 0; i < COUNT(vectors); i++)
        if (tpi_shard_hash(vectors[i].text) != vectors[i].hash)
            fail_msg("'%s' gives %08x", vectors[i].text, (unsigned)tpi_shard_hash(vectors[i].text));
}

TEST(test_shard__is_1_plus_the_hash_modulo_shards) {
    static const int32_t counts[] = {1, 2, 3, 7, 64, 1000, INT32_MAX - 1, INT32_MAX};
    for (size_t i = 0; i < COUNT(vectors); i++)
        for (size_t c = 0; c < COUNT(counts); c++) {
            int32_t shard = tp_shard_of(vectors[i].text, counts[c]);
            assert_true(shard >= 1 && shard <= counts[c]);
            assert_int_equal(shard, 1 + (int64_t)vectors[i].hash % counts[c]);
        }
    assert_int_equal(tp_shard_of(NULL, 10), tp_shard_of("", 10));
    assert_int_equal(tp_shard_of("账户", 1000), 1 + tpi_shard_hash("账户") % 1000);
}

TEST(test_shard__of_no_shards_is_0) {
    assert_int_equal(tp_shard_of("a", 0), 0);
    assert_int_equal(tp_shard_of("a", -1), 0);
    assert_int_equal(tp_shard_of("a", INT32_MIN), 0);
}

/* Keys as businesses have them: numbers in a row, with a word before them. */
TEST(test_shard__keys_in_a_row_fall_evenly) {
    static const char *const words[] = {"%d", "employee-%d", "order/2026/%06d", "客户%d"};
    static const int32_t counts[] = {2, 3, 8, 10, 16};
    enum { KEYS = 20000 };
    for (size_t w = 0; w < COUNT(words); w++)
        for (size_t c = 0; c < COUNT(counts); c++) {
            int in_shard[17] = {0};
            for (int i = 0; i < KEYS; i++) {
                char key[40];
                snprintf(key, sizeof key, words[w], i);
                in_shard[tp_shard_of(key, counts[c])]++;
            }
            for (int32_t s = 1; s <= counts[c]; s++)
                assert_in_range(in_shard[s], KEYS / counts[c] * 9 / 10, KEYS / counts[c] * 11 / 10);
        }
}

static tp_new_task by(tp_sharding how, int32_t shards, const char *key) {
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "points";
    task.sharding = how;
    task.shards = shards;
    task.biz_key = key;
    return task;
}

TEST(test_sharding__by_key_keeps_a_business_row_together) {
    tp_new_task task = by(TP_SHARDING_KEY, 16, "order 7");
    for (int i = 0; i < 5; i++)
        assert_int_equal(tpi_sharding_shard(&task), tp_shard_of("order 7", 16));
}

TEST(test_sharding__round_robin_goes_round_for_each_handler) {
    tp_new_task task = by(TP_SHARDING_ROUND_ROBIN, 5, NULL), other = by(TP_SHARDING_ROUND_ROBIN, 2, NULL);
    other.handler = "mail";
    int32_t last = tpi_sharding_shard(&task), last_other = tpi_sharding_shard(&other);
    for (int i = 0; i < 23; i++) {
        int32_t next = tpi_sharding_shard(&task), next_other = tpi_sharding_shard(&other);
        assert_int_equal(next, last % 5 + 1);
        assert_int_equal(next_other, last_other % 2 + 1);
        last = next;
        last_other = next_other;
    }
}

TEST(test_sharding__at_random_falls_evenly) {
    enum { TASKS = 8000, SHARDS = 4 };
    tp_new_task task = by(TP_SHARDING_RANDOM, SHARDS, NULL);
    int in_shard[SHARDS + 1] = {0};
    for (int i = 0; i < TASKS; i++) {
        int32_t shard = tpi_sharding_shard(&task);
        assert_in_range(shard, 1, SHARDS);
        in_shard[shard]++;
    }
    for (int s = 1; s <= SHARDS; s++)
        assert_in_range(in_shard[s], TASKS / SHARDS * 8 / 10, TASKS / SHARDS * 12 / 10);
}

TEST(test_sharding__without_it_the_shard_is_as_given) {
    tp_new_task task = by(TP_SHARDING_NONE, 0, "k");
    for (int32_t shard = -3; shard < 4; shard++) {
        task.shard = shard;
        assert_int_equal(tpi_sharding_shard(&task), shard);
        assert_int_equal(tpi_sharding_check(&task), TP_OK);
    }
}

static void expect_refused(tp_new_task task, const char *words) {
    assert_int_equal(tpi_sharding_check(&task), TP_MISUSE);
    if (!strstr(tp_last_error()->text, words)) fail_msg("refused for: %s", tp_last_error()->text);
}

TEST(test_sharding__what_does_not_go_together_is_refused) {
    tp_new_task both = by(TP_SHARDING_ROUND_ROBIN, 4, NULL);
    assert_int_equal(tpi_sharding_check(&both), TP_OK);
    both.shard = 1;
    expect_refused(both, "not both");
    expect_refused(by(TP_SHARDING_ROUND_ROBIN, 0, NULL), "number of shards");
    expect_refused(by(TP_SHARDING_RANDOM, -1, NULL), "number of shards");
    expect_refused(by(TP_SHARDING_KEY, 4, NULL), "biz_key");
    expect_refused(by(TP_SHARDING_KEY, 4, ""), "biz_key");
    expect_refused(by(TP_SHARDING_NONE, 4, "k"), "goes with sharding");
    expect_refused(by((tp_sharding)4, 4, "k"), "none of");
}
