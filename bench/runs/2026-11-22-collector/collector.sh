#!/bin/bash
# CPU that a collector takes, in hundredths of a second: collector.sh BINARY LABEL, in a checkout
set -e
export IOSTRATA_NATIVE=$1
lab=collector-$2
examples=$(ls ~/.cache/iostrata/hadoop-3.5.0/lib/hadoop-mapreduce-examples-*.jar)
trap '.venv/bin/iostrata lab down "$lab" > /dev/null 2>&1' EXIT
.venv/bin/iostrata lab up hadoop --name "$lab" --datanodes 2 > /dev/null 2>&1
.venv/bin/iostrata record --lab "$lab" -- sleep 1 > /dev/null 2>&1
pid=$(sed -n 's/^pid=//p' "/dev/shm/iostrata-lab-$lab/collector")
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
measure() { # NAME COMMAND...
    name=$1 before=$(ticks)
    shift
    .venv/bin/iostrata record --lab "$lab" -- "$@" > /dev/null 2> /tmp/collector-said
    echo "$lab $name: $(($(ticks) - before)) ticks, $(grep -o '[0-9 ]* events' /tmp/collector-said | tail -1)"
}
measure "sleep 20" sleep 20
measure teragen hadoop jar "$examples" teragen 2000000 /tg
measure terasort hadoop jar "$examples" terasort /tg /ts
