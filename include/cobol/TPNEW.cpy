      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> A new task, for TP_ENQUEUE. One block, one task: for another
      *> task INITIALIZE it first. To ask again call again with the
      *> block as it is.
       01 TP-NEW.
           05 FILLER PIC S9(9) COMP-5 VALUE 1056.
      *> LENGTH OF the field for the params, which is an argument.
           05 TPN-PARAMS-SIZE PIC S9(9) COMP-5 VALUE 0.
      *> 0: without trailing blanks; else exactly so many bytes.
           05 TPN-PARAMS-LENGTH PIC S9(9) COMP-5 VALUE 0.
           05 TPN-SHARD PIC S9(9) COMP-5 VALUE 0.
           05 TPN-SHARDING PIC S9(9) COMP-5 VALUE 0.
               88 TPN-SHARDING-NONE VALUE 0.
               88 TPN-SHARDING-KEY VALUE 1.
               88 TPN-SHARDING-ROUND-ROBIN VALUE 2.
               88 TPN-SHARDING-RANDOM VALUE 3.
           05 TPN-SHARDS PIC S9(9) COMP-5 VALUE 0.
           05 TPN-PRIORITY PIC S9(9) COMP-5 VALUE 0.
           05 TPN-MAX-FAILURES PIC S9(9) COMP-5 VALUE 0.
           05 TPN-DELAY-MS PIC S9(18) COMP-5 VALUE 0.
           05 TPN-DUE-AT PIC S9(18) COMP-5 VALUE 0.
      *> Set by the library with ID.
           05 TPN-CONTENT PIC S9(18) COMP-5 VALUE 0.
      *> Spaces: the library makes one.
           05 TPN-ID PIC X(36) VALUE SPACES.
      *> The task that is there, or was changed; else spaces.
           05 TPN-EXISTING-ID PIC X(36) VALUE SPACES.
           05 TPN-HANDLER PIC X(72) VALUE SPACES.
           05 TPN-BIZ-KEY PIC X(136) VALUE SPACES.
           05 TPN-DEDUP-KEY PIC X(136) VALUE SPACES.
      *> What becomes of an open task with the same DEDUP-KEY.
           05 TPN-ON-DUPLICATE PIC S9(9) COMP-5 VALUE 0.
               88 TPN-DUPLICATE-KEEP VALUE 0.
               88 TPN-DUPLICATE-REPLACE VALUE 1.
               88 TPN-DUPLICATE-PUSH-BACK VALUE 2.
           05 FILLER PIC S9(9) COMP-5 VALUE 0.
      *> One at a time for each, in the order of their commits.
           05 TPN-ORDER-KEY PIC X(136) VALUE SPACES.
      *> Or behind this gate.
           05 TPN-GATE PIC X(72) VALUE SPACES.
      *> Of no use from then on, or so long after it is due: it is not
      *> begun.
           05 TPN-DEADLINE-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPN-DEADLINE-MS PIC S9(18) COMP-5 VALUE 0.
      *> In this group, which is open.
           05 TPN-GROUP PIC X(136) VALUE SPACES.
      *> Due when this group has ended.
           05 TPN-AFTER PIC X(136) VALUE SPACES.
      *> Due by the next cut-off of this calendar, so long before.
           05 TPN-CUT-OFF-CALENDAR PIC X(72) VALUE SPACES.
           05 TPN-CUT-OFF-LEAD-MS PIC S9(18) COMP-5 VALUE 0.
