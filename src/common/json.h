/* JSON for programs: one object a line. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdint.h>

struct json_object;
/* Prints object on a line of its own and frees it. */
void out_json(struct json_object *object);
/* Adds a member; text that is "" or NULL becomes null. */
void json_put_text(struct json_object *object, const char *name, const char *text);
void json_put_number(struct json_object *object, const char *name, int64_t value);
/* 0 becomes null. */
void json_put_time(struct json_object *object, const char *name, int64_t ms);

#endif
