#!/usr/bin/env bash
# A Galera cluster of three MariaDB nodes on 127.0.0.1, for tests. Sourced by `services.sh`, and a command, as root:
#
#   .ci/galera.sh start | stop          the whole cluster. `start` returns when all nodes can be used
#   .ci/galera.sh kill N                ends node N with SIGKILL
#   .ci/galera.sh restart N             starts node N again, and waits until it has what it missed
#   .ci/galera.sh ready N               whether node N can be used
#
# Node N listens on port 331N for clients. Its files are in GALERA_FOLDER/N: `data`, `log.err`, `pid`. For another cluster, set GALERA_FOLDER and
# GALERA_PORTS.

GALERA_FOLDER=${GALERA_FOLDER:-/tmp/auto-api-galera}
# The first two digits of all ports.
GALERA_PORTS=${GALERA_PORTS:-33}
GALERA_NODES=(1 2 3)

galera_client() { mariadb --no-defaults --host 127.0.0.1 --port "${GALERA_PORTS}1$1" --user root --connect-timeout 2 "${@:2}"; }

galera_is_running() { [ -s "$GALERA_FOLDER/$1/pid" ] && kill -0 "$(cat "$GALERA_FOLDER/$1/pid")" 2> /dev/null; }

# Whether a node accepts writes, alone or as a member of the cluster.
galera_node_ready() {
  [ "$(galera_client "$1" -BNe "select variable_value from information_schema.global_status where variable_name = 'wsrep_ready'" 2> /dev/null)" = ON ]
}

galera_size() { galera_client "$1" -BNe "select variable_value from information_schema.global_status where variable_name = 'wsrep_cluster_size'"; }

galera_ready() {
  local node
  for node in "${GALERA_NODES[@]}"; do galera_node_ready "$node" && [ "$(galera_size "$node")" = "${#GALERA_NODES[@]}" ] || return 1; done
}

# galera_server <node> <option>...: the command of a node, in the array `command`. Commits survive a SIGKILL, but not a crash of the machine.
galera_server() {
  local node=$1 folder="$GALERA_FOLDER/$1"
  command=(
    mariadbd --no-defaults --user=mysql --bind-address=127.0.0.1 --port="${GALERA_PORTS}1$node" --datadir="$folder/data" --socket="$folder/socket"
    --pid-file="$folder/pid" --log-error="$folder/log" --skip-name-resolve --max-connections=400
    --binlog-format=row --default-storage-engine=innodb --innodb-autoinc-lock-mode=2 --innodb-flush-log-at-trx-commit=2
    --innodb-buffer-pool-size=64M --innodb-log-file-size=32M --key-buffer-size=1M --aria-pagecache-buffer-size=8M
    --wsrep-on=ON --wsrep-provider=/usr/lib/galera/libgalera_smm.so --wsrep-cluster-name=auto-api "--wsrep-node-name=node$node"
    --wsrep-node-address=127.0.0.1 --wsrep-sst-method=rsync "--wsrep-sst-receive-address=127.0.0.1:${GALERA_PORTS}4$node" --wsrep-slave-threads=2
    --wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:${GALERA_PORTS}2$node;ist.recv_addr=127.0.0.1:${GALERA_PORTS}3$node;gcache.size=64M;evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT3S;evs.inactive_timeout=PT9S"
    "${@:2}"
  )
}

# galera_launch <node> <option>...: starts a node in the background, without the file descriptors of the caller.
galera_launch() {
  local command folder="$GALERA_FOLDER/$1"
  galera_server "$@"
  rm -f "$folder/pid"
  setsid "${command[@]}" > "$folder/output" 2>&1 < /dev/null &
  disown
}

# galera_wait <seconds> <command>...: waits until the command succeeds.
galera_wait() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || { echo "Galera: gave up waiting: $*" >&2; return 1; }
    sleep 0.1
  done
}

galera_is_stopped() { ! galera_is_running "$1"; }

# galera_end <node> <signal>: ends a node and waits until it is gone.
galera_end() {
  galera_is_running "$1" || return 0
  kill "-$2" "$(cat "$GALERA_FOLDER/$1/pid")" 2> /dev/null
  galera_wait 30 galera_is_stopped "$1"
}

galera_kill() { galera_end "$1" KILL; }

galera_stop() {
  local node
  for node in "${GALERA_NODES[@]}"; do galera_end "$node" TERM || galera_end "$node" KILL; done
}

# Three nodes with the same data and the same position need no transfer of the data when they join.
galera_start() {
  local node first="$GALERA_FOLDER/1"
  command -v mariadb-install-db > /dev/null && [ -e /usr/lib/galera/libgalera_smm.so ] && command -v rsync lsof > /dev/null \
    || install_packages mariadb-server galera-4 rsync lsof || return 1
  galera_stop
  rm -rf "$GALERA_FOLDER"
  for node in "${GALERA_NODES[@]}"; do mkdir -p "$GALERA_FOLDER/$node"; done
  chown -R mysql: "$GALERA_FOLDER"
  mariadb-install-db --no-defaults --user=mysql --datadir="$first/data" --skip-test-db --skip-name-resolve \
    --auth-root-authentication-method=normal > "$first/install" 2>&1 || return 1
  galera_launch 1 --wsrep-new-cluster --wsrep-cluster-address=gcomm://
  galera_wait 30 galera_node_ready 1 && galera_client 1 -e 'create database test' && galera_end 1 TERM || return 1
  for node in 2 3; do cp -a "$first/data" "$GALERA_FOLDER/$node/data" || return 1; done
  for node in 2 3; do sed -i 's/^safe_to_bootstrap: 1/safe_to_bootstrap: 0/' "$GALERA_FOLDER/$node/data/grastate.dat"; done
  galera_launch 1 --wsrep-new-cluster --wsrep-cluster-address=gcomm://
  galera_wait 30 galera_node_ready 1 || return 1
  for node in 2 3; do galera_launch "$node" --wsrep-cluster-address="$(galera_others "$node")"; done
  galera_wait 60 galera_ready
}

# The addresses at which a node finds the cluster.
galera_others() {
  local node others=
  for node in "${GALERA_NODES[@]}"; do [ "$node" = "$1" ] || others+=",127.0.0.1:${GALERA_PORTS}2$node"; done
  echo "gcomm://${others#,}"
}

# A node that was killed reads its position from its files, so that the others send only what it missed. If no other node runs, it begins
# the cluster again: of several nodes that were killed, restart the one that was killed last first.
galera_restart() {
  local node=$1 folder="$GALERA_FOLDER/$1" command position options
  galera_end "$node" TERM || return 1
  options=(--wsrep-cluster-address="$(galera_others "$node")")
  if [ -z "$(galera_running)" ]; then
    options=(--wsrep-cluster-address=gcomm:// --wsrep-new-cluster)
    rm -f "$folder/data/gvwstate.dat"
    sed -i 's/^safe_to_bootstrap: 0/safe_to_bootstrap: 1/' "$folder/data/grastate.dat"
  fi
  galera_server "$node" --wsrep-recover --wsrep-cluster-address=gcomm:// --log-error="$folder/recovered"
  rm -f "$folder/recovered.err"
  "${command[@]}" > /dev/null 2>&1 < /dev/null
  position=$(sed -n 's/.*WSREP: Recovered position:\{0,1\} *//p' "$folder/recovered.err" | tail -n 1)
  galera_launch "$node" "${options[@]}" ${position:+"--wsrep-start-position=$position"}
  galera_wait 15 galera_node_ready "$node" 2> /dev/null || { galera_resume; galera_wait 40 galera_node_ready "$node"; }
}

# The nodes whose process exists.
galera_running() {
  local node
  for node in "${GALERA_NODES[@]}"; do galera_is_running "$node" && echo "$node"; done
  return 0
}

# The last node of a cluster accepts no writes after it has lost all others at once. Then it begins the cluster again.
galera_resume() {
  local node nodes
  nodes=$(galera_running)
  for node in $nodes; do galera_node_ready "$node" && return; done
  for node in $nodes; do galera_client "$node" -e "set global wsrep_provider_options = 'pc.bootstrap=YES'" 2> /dev/null && return; done
}

# Run as a command, and not sourced.
if [ "${#BASH_SOURCE[@]}" = 1 ] && [ "${BASH_SOURCE[0]}" = "$0" ]; then
  # shellcheck source=services.sh
  . "$(dirname "$0")/services.sh"
  case "${1:-}:${2:-}" in
    start:) galera_start ;;
    stop:) galera_stop ;;
    kill:[123]) galera_kill "$2" ;;
    restart:[123]) galera_restart "$2" ;;
    ready:[123]) galera_node_ready "$2" ;;
    ready:) galera_ready ;;
    *) echo "usage: $0 start | stop | kill N | restart N | ready [N]" >&2; exit 2 ;;
  esac
fi
