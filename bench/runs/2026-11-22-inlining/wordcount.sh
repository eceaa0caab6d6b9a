#!/bin/sh
# plain|traced OUT [option of the JVM]; see README.md
set -f
L=$HOME/.cache/iostrata/hadoop-3.5.0/lib
side=$1; out=$2; shift 2; rm -rf /tmp/$out
C="java -Xmx600m -XX:+UseSerialGC $* -cp $L/* org.apache.hadoop.examples.WordCount file:///tmp/text-128 file:///tmp/$out"
if [ $side = plain ]; then exec $C; else exec iostrata record -q --private --store /tmp/store $REC -- $C; fi
