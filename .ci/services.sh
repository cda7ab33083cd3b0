# The services that tests need, on Debian, as root. Sourced by `run`.
#
# A service is a row in these lists and two functions: `<name>_ready` succeeds when the service can be used, `<name>_start`
# installs what is missing and starts it. Everything listens on 127.0.0.1 only and holds test data only.

# The services that the tests of a tier need.
PUSH_SERVICES=(postgres mariadb redis chromium)
FULL_SERVICES=(postgres postgres_replica pgbouncer mariadb mariadb_replica galera redis chromium)

listening() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# apt's lists are fetched once, and only when something is missing.
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  [ -n "${APT_UPDATED:-}" ] || { apt-get update -qq && APT_UPDATED=1; } || return 1
  apt-get install -qq -y --no-install-recommends "$@"
}

# Runs a command as another user. It needs neither sudo nor a password.
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --init-groups "$@"; }

postgres_ready() { listening 5432; }
postgres_start() {
  command -v pg_lsclusters > /dev/null || install_packages postgresql || return 1
  local version name
  read -r version name _ < <(pg_lsclusters --no-header) || return 1
  # Tests connect over TCP as `postgres` without a password.
  sed -i -E 's/^(host\s+all\s+all\s+127\.0\.0\.1\/32\s+)\S+$/\1trust/' "/etc/postgresql/$version/$name/pg_hba.conf"
  pg_ctlcluster "$version" "$name" start || return 1
  as postgres psql -qc 'create database test' 2> /dev/null || true
}

# A copy of the whole Postgres server, which replays what the first one commits. It only reads.
postgres_replica_ready() { listening 5433; }
postgres_replica_start() {
  local folder
  folder=$(mktemp -d)
  copy_postgres "$folder" && launch_replica 5433 "$folder"
}

# copy_postgres <folder>: copies the files of Postgres for a replica.
copy_postgres() {
  local folder=$1 version name hba
  read -r version name _ < <(pg_lsclusters --no-header) || return 1
  hba="/etc/postgresql/$version/$name/pg_hba.conf"
  if ! grep -qE '^host\s+replication\s+all\s+127\.0\.0\.1/32\s+trust' "$hba"; then
    sed -i -E '/^host\s+replication\s+all\s+127\.0\.0\.1\/32\s/d' "$hba"
    echo 'host replication all 127.0.0.1/32 trust' >> "$hba"
    pg_ctlcluster "$version" "$name" reload || return 1
  fi
  chown postgres: "$folder" || return 1
  as postgres pg_basebackup --host 127.0.0.1 --username postgres --pgdata "$folder/data" --checkpoint fast --write-recovery-conf || return 1
  echo 'host all all 127.0.0.1/32 trust' > "$folder/data/pg_hba.conf"
  touch "$folder/data/postgresql.conf" "$folder/data/pg_ident.conf"
  chown -R postgres: "$folder"
}

# launch_replica <port> <folder>: starts the replica whose files are in the folder, also after it was killed.
launch_replica() {
  local port=$1 folder=$2 version setting settings=
  read -r version _ < <(pg_lsclusters --no-header) || return 1
  # A replica refuses to start with less than the first server has.
  for setting in max_connections max_worker_processes max_wal_senders max_prepared_transactions max_locks_per_transaction; do
    settings+=" -c $setting=$(as postgres psql -Atc "show $setting")"
  done
  # Tests remove tables: the replay does not wait for readers of them.
  as postgres "/usr/lib/postgresql/$version/bin/pg_ctl" start --silent --wait --pgdata "$folder/data" --log "$folder/log" \
    --options "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_standby_streaming_delay=1s$settings" < /dev/null
}

# stop_replica <folder>: ends a replica and all of its processes.
stop_replica() {
  local version
  read -r version _ < <(pg_lsclusters --no-header) || return 1
  as postgres "/usr/lib/postgresql/$version/bin/pg_ctl" stop --silent --wait --mode immediate --pgdata "$1/data"
}

# A pooler in front of Postgres. Few connections, so that requests share them.
pgbouncer_ready() { listening 6432; }
pgbouncer_start() {
  command -v pgbouncer > /dev/null || install_packages pgbouncer || return 1
  local folder try
  # The package starts a server of its own.
  for try in $(seq 50); do pkill -x pgbouncer || break; sleep 0.2; done
  folder=$(mktemp -d) && chown postgres: "$folder" || return 1
  cat > "$folder/pgbouncer.ini" << INI
[databases]
* = host=127.0.0.1 port=5432 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
server_idle_timeout = 2
ignore_startup_parameters = extra_float_digits
logfile = $folder/log
pidfile = $folder/pid
unix_socket_dir =
INI
  pgbouncer --daemon --user postgres "$folder/pgbouncer.ini"
}

mariadb_ready() { listening 3306; }
mariadb_start() {
  command -v mariadbd > /dev/null || install_packages mariadb-server || return 1
  mkdir -p /run/mysqld && chown mysql: /run/mysqld
  mariadbd --user=mysql --bind-address=127.0.0.1 > /dev/null 2>&1 < /dev/null &
  local try
  for try in $(seq 60); do mariadb-admin ping > /dev/null 2>&1 && break; sleep 0.5; done
  # Tests connect over TCP as `root` without a password.
  mariadb -e "create user if not exists root@'127.0.0.1' identified by ''; grant all on *.* to root@'127.0.0.1';
    create database if not exists test"
}

# A primary of its own on port 3307, and its replica on 3308: the other server has no binary log. The replica only reads.
mariadb_replica_ready() { listening 3307 && listening 3308; }
mariadb_replica_start() {
  command -v mariadb-install-db > /dev/null || install_packages mariadb-server || return 1
  local folder port try
  folder=$(mktemp -d) && chmod 755 "$folder" && mkdir "$folder/3307" "$folder/3308" && chown mysql: "$folder"/* || return 1
  mariadb-install-db --no-defaults --user=mysql --datadir="$folder/3307/data" --skip-test-db --skip-name-resolve \
    --auth-root-authentication-method=normal > "$folder/install" 2>&1 || return 1
  cp -a "$folder/3307/data" "$folder/3308/data" || return 1
  for port in 3307 3308; do
    setsid mariadbd --no-defaults --user=mysql --bind-address=127.0.0.1 --port=$port --datadir="$folder/$port/data" --socket="$folder/$port/socket" \
      --pid-file="$folder/$port/pid" --log-error="$folder/$port/log" --skip-name-resolve --server-id=$port --log-bin --binlog-format=row \
      --log-bin-trust-function-creators --innodb-buffer-pool-size=64M --innodb-log-file-size=32M --innodb-flush-log-at-trx-commit=2 \
      $([ "$port" = 3308 ] && echo --read-only --skip-slave-start) > "$folder/$port/output" 2>&1 < /dev/null &
    disown
  done
  for port in 3307 3308; do
    for try in $(seq 60); do listening $port && break; sleep 0.5; done
  done
  mariadb --no-defaults --host 127.0.0.1 --port 3308 --user root -e "
    change master to master_host = '127.0.0.1', master_port = 3307, master_user = 'root', master_use_gtid = slave_pos, master_connect_retry = 1;
    start slave" || return 1
  mariadb --no-defaults --host 127.0.0.1 --port 3307 --user root -e 'create database test'
}

# Three nodes, which certify each other's commits. Also a command, with which tests kill a node and start it again.
# shellcheck source=galera.sh
. "$(dirname "${BASH_SOURCE[0]}")/galera.sh"

redis_ready() { listening 6379; }
redis_start() {
  command -v redis-server > /dev/null || install_packages redis-server || return 1
  redis-server --daemonize yes --bind 127.0.0.1 --save '' --dir /tmp > /dev/null
}

chromium_ready() { command -v chromium > /dev/null; }
chromium_start() { install_packages chromium; }

# Starts each service that is not ready, and waits until it is.
start_services() {
  local service try
  for service in "$@"; do
    if ! "${service}_ready"; then
      echo "starting $service"
      "${service}_start" || { echo "$service did not start"; return 1; }
      for try in $(seq 60); do "${service}_ready" && break; sleep 0.5; done
    fi
    "${service}_ready" || { echo "$service cannot be reached"; return 1; }
    echo "$service is ready"
  done
}
