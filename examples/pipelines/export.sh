#!/bin/sh
# A topic of 300,000 records to parquet files in a folder, and back into another topic. The cluster is that of
# KCLI_BOOTSTRAP or of your profile; `kcli sandbox &` is one. Java need not be on PATH: kcli-kafka[spark-java] has one.
set -eu
out=${1:?a folder that is not there yet}
kcli=${KCLI:-kcli}

$kcli topics create demo demo-again -p 3 --if-not-exists
seq 300000 | sed 's/.*/{"id":&,"total":&}/' | $kcli produce demo
$kcli pipeline export demo --file-format parquet "$out" --value-format json --select 'key, value.id, value.total, timestamp' \
    --where 'value.total > 100000'
$kcli pipeline import "$out" demo-again --key-column id --value json
