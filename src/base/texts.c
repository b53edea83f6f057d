/* An arena for strings, in blocks that never move. See texts.h. */
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

/* Small texts share a block, long ones have their own. */
struct tpi_text_block {
    struct tpi_text_block *next;
    size_t used, size;
    char bytes[];
};
enum { BLOCK = 16 * 1024 };

bool tpi_texts_reserve(struct tpi_texts *texts, size_t bytes) {
    struct tpi_text_block *block = malloc(sizeof *block + bytes);
    if (!block) return false;
    *block = (struct tpi_text_block){.next = texts->blocks, .size = bytes};
    texts->blocks = block;
    return true;
}

static struct tpi_text_block *add_block(struct tpi_texts *texts, size_t need) {
    struct tpi_text_block *shared = texts->blocks;
    size_t size = need > BLOCK / 4 ? need : BLOCK;
    if (!tpi_texts_reserve(texts, size)) return NULL;
    struct tpi_text_block *block = texts->blocks;
    /* A block of its own goes behind the shared one, which still has room. */
    if (shared && size != BLOCK) {
        block->next = shared->next;
        shared->next = block;
        texts->blocks = shared;
    }
    return block;
}

const char *tpi_texts_keep(struct tpi_texts *texts, const char *text, size_t length) {
    struct tpi_text_block *block = texts->blocks;
    if (length == 0) return "";
    if (!block || block->size - block->used < length + 1) block = add_block(texts, length + 1);
    if (!block) return NULL;
    char *copy = block->bytes + block->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    block->used += length + 1;
    return copy;
}

static void free_all(struct tpi_text_block *block) {
    for (struct tpi_text_block *next; block; block = next) {
        next = block->next;
        free(block);
    }
}

void tpi_texts_clear(struct tpi_texts *texts) {
    struct tpi_text_block *block = texts->blocks;
    if (!block) return;
    free_all(block->next);
    block->next = NULL;
    block->used = 0;
}

void tpi_texts_free(struct tpi_texts *texts) {
    free_all(texts->blocks);
    texts->blocks = NULL;
}
