#!/usr/bin/env bash
# hadoop, hdfs, yarn and mapred of this lab. It sources hadoop-env.sh and hands options on
# in the way of Hadoop's own scripts (bin/hdfs, libexec/hadoop-functions.sh).
lab="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
program="$(basename "${BASH_SOURCE[0]}")"
classes=@CLASSES@
if [[ "${1-}" == --config ]]; then
  export HADOOP_CONF_DIR="$2"
  shift 2
fi
export HADOOP_CONF_DIR="${HADOOP_CONF_DIR:-${lab}/conf}"
. "${HADOOP_CONF_DIR}/hadoop-env.sh"
if [[ "${program}" != hadoop && -f "${HADOOP_CONF_DIR}/${program}-env.sh" ]]; then
  . "${HADOOP_CONF_DIR}/${program}-env.sh"
fi

command="${1-}"
[[ $# -gt 0 ]] && shift
opts="${HADOOP_CLIENT_OPTS-}"
hdfs=org.apache.hadoop.hdfs
yarn=org.apache.hadoop.yarn
case "${program} ${command}" in
  "hdfs namenode") class=${hdfs}.server.namenode.NameNode; opts="${HDFS_NAMENODE_OPTS-}" ;;
  "hdfs datanode") class=${hdfs}.server.datanode.DataNode; opts="${HDFS_DATANODE_OPTS-}" ;;
  "yarn resourcemanager")
    class=${yarn}.server.resourcemanager.ResourceManager; opts="${YARN_RESOURCEMANAGER_OPTS-}" ;;
  "yarn nodemanager")
    class=${yarn}.server.nodemanager.NodeManager; opts="${YARN_NODEMANAGER_OPTS-}" ;;
  "hadoop fs" | "hdfs dfs") class=org.apache.hadoop.fs.FsShell ;;
  "hadoop jar" | "yarn jar") class=org.apache.hadoop.util.RunJar ;;
  *" version") class=org.apache.hadoop.util.VersionInfo ;;
  *" classpath") echo "${HADOOP_CONF_DIR}:${classes}${HADOOP_CLASSPATH:+:${HADOOP_CLASSPATH}}"; exit 0 ;;
  "hdfs dfsadmin") class=${hdfs}.tools.DFSAdmin ;;
  "hdfs getconf") class=${hdfs}.tools.GetConf ;;
  "hdfs fsck") class=${hdfs}.tools.DFSck ;;
  "yarn application" | "yarn app" | "yarn applicationattempt" | "yarn container")
    class=${yarn}.client.cli.ApplicationCLI; set -- "${command}" "$@" ;;
  "yarn node") class=${yarn}.client.cli.NodeCLI ;;
  "yarn logs") class=${yarn}.client.cli.LogsCLI ;;
  "yarn rmadmin") class=${yarn}.client.cli.RMAdminCLI ;;
  "mapred job") class=org.apache.hadoop.mapred.JobClient ;;
  *" "*.*) class="${command}" ;;
  *)
    echo "usage: hadoop fs|jar|version|CLASS, hdfs dfs|dfsadmin|getconf|fsck|CLASS," \
      "yarn application|node|logs|jar|CLASS, mapred job|CLASS" >&2
    exit 1 ;;
esac
# Options are lists of words here, as everywhere in Hadoop's scripts.
# shellcheck disable=SC2086
exec "${JAVA_HOME}/bin/java" "-Dproc_${command}" ${HADOOP_OPTS-} ${opts} \
  -cp "${HADOOP_CONF_DIR}:${classes}${HADOOP_CLASSPATH:+:${HADOOP_CLASSPATH}}" "${class}" "$@"
