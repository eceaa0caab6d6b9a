# wc.sh plain|traced OUT [jvm options]
set -f
L=/root/.cache/iostrata/hadoop-3.5.0/lib
side=$1; out=$2; shift 2; rm -rf /tmp/wc/$out
C="java -Xmx600m -XX:+UseSerialGC $* -cp $L/* org.apache.hadoop.examples.WordCount file:///tmp/wc/text-128 file:///tmp/wc/$out"
if [ $side = plain ]; then exec $C; else exec /work/main/.venv/bin/iostrata record -q --private --store /tmp/wc/store $REC -- $C; fi
