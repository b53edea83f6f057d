/* Names of databases, for help texts and messages only; the program decides nothing by them. */
#ifndef COMMON_EXAMPLES_H
#define COMMON_EXAMPLES_H

#define EXAMPLE_DSN      "Driver=SQLite3;Database=/tmp/tasks.db"
#define EXAMPLE_DIALECT  "oracle"
#define EXAMPLE_DIALECTS "oracle, mysql, postgres, sqlite or generic"

#endif
