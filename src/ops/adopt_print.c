/* Shows the SQL of an adoption's steps, for a DBA to read; runs nothing. See adopt.h. */
#include "base/error.h"
#include "ops/adopt.h"
#include "ops/conn.h"

/* A script has marks that go over several lines. */
static tp_status print_script(const struct tpi_adoption *adoption, const char *prefix,
                              const struct tpi_script *script, tp_text_fn write, void *arg) {
    struct tpi_buf text = {0}, out = {0};
    for (size_t i = 0; i < script->line_count; i++) {
        tpi_buf_text(&text, script->lines[i]);
        tpi_buf_char(&text, '\n');
    }
    if (!text.failed && text.length) tpi_adopt_render(adoption, prefix, text.data, &out);
    bool failed = text.failed || out.failed;
    if (!failed && out.length) write(out.data, out.length, arg);
    if (!failed) write("\n", 1, arg);
    tpi_buf_free(&text);
    tpi_buf_free(&out);
    return failed ? tpi_error(TP_NOMEM, "out of memory") : TP_OK;
}

/* Of a table that is shared with old consumers, and of one that is not. */
static bool is_used(const struct tpi_adoption *adoption, int number) {
    bool shared = number == TPI_ADOPT_S_BACK || number == TPI_ADOPT_S_COPY,
         alone = number == TPI_ADOPT_S_ALONE_BACK || number == TPI_ADOPT_S_ALONE_COPY;
    return tpi_adopt_alone(adoption) ? !shared : !alone;
}

tp_status tp_adopt_print(tp_env *env, const char *mapping, tp_text_fn write, void *arg) {
    struct tpi_adoption adoption = {0};
    if (!env || !mapping || !write) return tpi_error(TP_MISUSE, "tp_adopt_print: an argument is NULL");
    const struct tpi_dialect *dialect = atomic_load(&env->dialect);
    if (!dialect)
        return tpi_error(TP_MISUSE, "which dialect? say Dialect= in the connection string, or connect first");
    tp_status status = tpi_adopt_read(mapping, dialect, &adoption);
    tpi_buf_text(&adoption.words[TPI_ADOPT_TASKS], "'an id', ...");
    for (const struct tpi_script *script = dialect->adopt; status == TP_OK && script->file; script++)
        if (is_used(&adoption, script->version))
            status = print_script(&adoption, env->prefix, script, write, arg);
    tpi_adopt_free(&adoption);
    return status;
}
