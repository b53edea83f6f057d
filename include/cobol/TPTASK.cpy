      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> A task as it was read. After TP_STEP and TP_CLAIM it stands
      *> for the claim.
       01 TP-TASK.
           05 FILLER PIC S9(9) COMP-5 VALUE 1040.
      *> LENGTH OF the field for the params, which is an argument.
           05 TPT-PARAMS-SIZE PIC S9(9) COMP-5 VALUE 0.
      *> Bytes of the params before blanks.
           05 TPT-PARAMS-LENGTH PIC S9(9) COMP-5 VALUE 0.
      *> The claim; 0: none.
           05 TPT-NUMBER PIC S9(9) COMP-5 VALUE 0.
      *> For TP_SETTLE: how the work ended. -1 until it is set.
           05 TPT-VERDICT PIC S9(9) COMP-5 VALUE 0.
               88 TPT-RUN-DONE VALUE 0.
               88 TPT-RUN-FAILED VALUE 1.
               88 TPT-RUN-SKIPPED VALUE 2.
               88 TPT-RUN-LATER VALUE 3.
      *> For TP_SETTLE: 1: a failure that no retry can mend.
           05 TPT-NO-RETRY PIC S9(9) COMP-5 VALUE 0.
           05 TPT-SHARD PIC S9(9) COMP-5 VALUE 0.
           05 TPT-PRIORITY PIC S9(9) COMP-5 VALUE 0.
           05 TPT-FAILURES PIC S9(9) COMP-5 VALUE 0.
           05 TPT-MAX-FAILURES PIC S9(9) COMP-5 VALUE 0.
      *> For TP_RELEASE, and TP_SETTLE with TPT-RUN-LATER.
           05 TPT-DELAY-MS PIC S9(18) COMP-5 VALUE 0.
      *> For TP_EXTEND.
           05 TPT-LEASE-MS PIC S9(18) COMP-5 VALUE 0.
           05 TPT-DUE-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPT-CREATED-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPT-MODIFIED-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPT-SETTLED-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPT-ID PIC X(36) VALUE SPACES.
           05 TPT-OWNER PIC X(36) VALUE SPACES.
           05 TPT-STATE PIC X(8) VALUE SPACES.
           05 TPT-POOL PIC X(8) VALUE SPACES.
           05 TPT-HANDLER PIC X(72) VALUE SPACES.
           05 TPT-BIZ-KEY PIC X(136) VALUE SPACES.
           05 TPT-DEDUP-KEY PIC X(136) VALUE SPACES.
      *> The last failure; and what TP_FAIL, TP_GIVE_UP, TP_SKIP and
      *> TP_SETTLE write.
           05 TPT-REASON PIC X(520) VALUE SPACES.
