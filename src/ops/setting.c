/* See setting.h. Read next: retention.c, four_eyes.c. */
#include "ops/setting.h"

#include "base/error.h"
#include "ops/refused.h"
#include "store/record.h"

tp_status tpi_setting_get(tp_conn *conn, const char *name, char value[TPI_SETTING_SIZE]) {
    static const struct tpi_column only[] = {{TPI_READ_CHARS, 0, TPI_SETTING_SIZE}, TPI_COLUMN_END};
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    return tpi_store_read(&conn->store, TPI_S_meta_get, &args, only, NULL, value);
}

tp_status tpi_setting_set(tp_conn *conn, const char *name, const char *value) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_value, value);
    tp_status status = tpi_store_change_one(&conn->store, TPI_S_meta_set, &args);
    if (status == TP_NONE) status = tpi_store_change_one(&conn->store, TPI_S_meta_add, &args);
    return status == TP_NONE ? tpi_refused_silently(&conn->store, "stored no setting", "meta") : status;
}

tp_status tpi_setting_swap(tp_conn *conn, const char *name, const char *old, const char *value) {
    struct tpi_args args = {0};
    tpi_args_text(&args, TPI_P_name, name);
    tpi_args_text(&args, TPI_P_value, value);
    tpi_args_text(&args, TPI_P_reason, old);
    tp_status status = tpi_store_change_one(&conn->store, *old ? TPI_S_meta_swap : TPI_S_meta_add, &args);
    return status == TP_NONE ? tpi_error(TP_CONFLICT, "somebody else has set %s meanwhile", name) : status;
}
