#!/bin/sh
# A process that works in steps. vigil run supervises it: it reports output, silence and the exit code, and passes everything through.
for step in 1 2 3; do
  echo "step $step of 3"
  sleep 1
done
