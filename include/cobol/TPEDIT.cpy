      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_EDIT. To ask again call again with the block as it is.
       01 TP-EDIT.
           05 FILLER PIC S9(9) COMP-5 VALUE 1080.
      *> 1 in each of these: that value is written.
           05 TPD-SET-PARAMS PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-BIZ-KEY PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-DEDUP-KEY PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-PRIORITY PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-DUE-AT PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-MAX-FAILURES PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SET-SHARD PIC S9(9) COMP-5 VALUE 0.
      *> 1: pending again, without failures.
           05 TPD-RETRY PIC S9(9) COMP-5 VALUE 0.
           05 TPD-PRIORITY PIC S9(9) COMP-5 VALUE 0.
           05 TPD-MAX-FAILURES PIC S9(9) COMP-5 VALUE 0.
           05 TPD-SHARD PIC S9(9) COMP-5 VALUE 0.
      *> LENGTH OF the field for the params, which is an argument.
           05 TPD-PARAMS-SIZE PIC S9(9) COMP-5 VALUE 0.
      *> 0: without trailing blanks; else exactly so many bytes.
           05 TPD-PARAMS-LENGTH PIC S9(9) COMP-5 VALUE 0.
           05 TPD-DUE-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPD-ID PIC X(36) VALUE SPACES.
      *> Spaces: the library makes one.
           05 TPD-EDIT-ID PIC X(36) VALUE SPACES.
           05 TPD-BIZ-KEY PIC X(136) VALUE SPACES.
           05 TPD-DEDUP-KEY PIC X(136) VALUE SPACES.
      *> Who edits, and why; both are kept.
           05 TPD-WHO PIC X(136) VALUE SPACES.
           05 TPD-WHY PIC X(520) VALUE SPACES.
      *> 1: DEADLINE-AT is written, 0: none.
           05 TPD-SET-DEADLINE PIC S9(9) COMP-5 VALUE 0.
           05 FILLER PIC S9(9) COMP-5 VALUE 0.
           05 TPD-DEADLINE-AT PIC S9(18) COMP-5 VALUE 0.
