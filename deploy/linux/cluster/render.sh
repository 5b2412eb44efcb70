#!/bin/sh
# Writes the configuration of etcd, Patroni and HAProxy for each machine of a cluster:
#   render.sh cluster.env FOLDER
# FOLDER gets etcd.yaml and patroni.yaml for each database machine, haproxy.cfg, and the passwords, which are made once.
set -eu
umask 077
[ $# = 2 ] || { echo "render.sh SETTINGS FOLDER" >&2; exit 2; }
case $1 in */*) . "$1" ;; *) . "./$1" ;; esac
out=$2
mkdir -p "$out/secrets"

fail() { echo "$1" >&2; exit 1; }
for name in CLUSTER DATABASES NODES PROXY NETWORKS PROGRAMS DATA WATCHDOG LEASE LOOP RETRY; do
  eval "value=\${$name:-}"
  [ -n "$value" ] || fail "$name is not set in $1"
done
set -- $DATABASES
[ $# = 3 ] || fail "DATABASES names $# machines, not three: two of two must agree, and one of three may fail"
[ "$LEASE" -ge $((LOOP + 2 * RETRY)) ] || fail "LEASE is $LEASE, and must be at least LOOP + 2 * RETRY = $((LOOP + 2 * RETRY))"

# A password that is there already stays, because the cluster knows it.
for name in superuser replication rewind api; do
  [ -s "$out/secrets/$name" ] || openssl rand -hex 24 > "$out/secrets/$name"
done
password() { cat "$out/secrets/$1"; }
# Prints one line for each machine, with NAME and ADDRESS in it replaced.
for_each() {
  list=$1 line=$2
  for pair in $list; do echo "$line" | sed "s|NAME|${pair%%=*}|g; s|ADDRESS|${pair#*=}|g"; done
}
comma() { tr '\n' ',' | sed 's/,$//'; }

peers=$(for_each "$DATABASES" 'NAME=http://ADDRESS:2380' | comma)
members=$(for_each "$DATABASES" 'ADDRESS:2379' | comma)

ssl_lines() {
  [ -n "${TLS:-}" ] || return 0
  cat <<END
    ssl: 'on'
    ssl_cert_file: $TLS/server.crt
    ssl_key_file: $TLS/server.key
    ssl_ca_file: $TLS/ca.crt
END
}
host=host
[ -z "${TLS:-}" ] || host=hostssl
hba_lines() {
  echo "  - local all all scram-sha-256"
  for network in $NETWORKS; do
    echo "  - $host replication replicator $network scram-sha-256"
    echo "  - $host all all $network scram-sha-256"
  done
}

for pair in $DATABASES; do
  name=${pair%%=*} address=${pair#*=}
  data=$(echo "$DATA" | sed "s|NAME|$name|g")
  mkdir -p "$out/$name"
  cat > "$out/$name/etcd.yaml" <<END
name: $name
data-dir: $data/etcd
initial-cluster: $peers
initial-cluster-state: new
initial-cluster-token: $CLUSTER
listen-peer-urls: http://$address:2380
initial-advertise-peer-urls: http://$address:2380
listen-client-urls: http://$address:2379
advertise-client-urls: http://$address:2379
enable-v2: false
# Patroni speaks to it in JSON, which etcd turns off when its settings are in a file.
enable-grpc-gateway: true
END
  cat > "$out/$name/patroni.yaml" <<END
scope: $CLUSTER
name: $name
restapi:
  listen: $address:8008
  connect_address: $address:8008
  authentication:
    username: patroni
    password: $(password api)
etcd3:
  hosts: $members
bootstrap:
  dcs:
    ttl: $LEASE
    loop_wait: $LOOP
    retry_timeout: $RETRY
    # The leader goes on without etcd as long as it reaches all members.
    failsafe_mode: true
    # A commit is acknowledged when a standby has it; no standby: no commit.
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        synchronous_commit: 'on'
        max_connections: 200
        wal_level: replica
        hot_standby: 'on'
        wal_log_hints: 'on'
        # A standby tries at once to follow a new leader, whose commits wait for it. The default is five seconds.
        wal_retrieve_retry_interval: 500ms
        # A standby that was away for long finds what it missed.
        max_slot_wal_keep_size: 16GB
        tcp_keepalives_idle: 10
        tcp_keepalives_interval: 5
        tcp_keepalives_count: 3
  initdb:
  - encoding: UTF8
  - locale: C.UTF-8
  - data-checksums
postgresql:
  listen: $address:5432
  connect_address: $address:5432
  data_dir: $data/postgres
  bin_dir: $PROGRAMS
  pgpass: $data/pgpass
  authentication:
    superuser: {username: postgres, password: $(password superuser)}
    replication: {username: replicator, password: $(password replication)}
    rewind: {username: rewinder, password: $(password rewind)}
  parameters:
    unix_socket_directories: $data
    password_encryption: scram-sha-256
$(ssl_lines)
  pg_hba:
$(hba_lines)
watchdog:
  mode: '$WATCHDOG'
  device: /dev/watchdog
  safety_margin: 5
END
done

cat > "$out/haproxy.cfg" <<END
global
  maxconn 2000
defaults
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s

# PostgreSQL where changes go: the one member that Patroni says is the leader.
listen primary
  bind $PROXY:5000
  mode tcp
  option tcpka
  option httpchk GET /primary
  default-server inter 1s downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
$(for_each "$DATABASES" '  server NAME ADDRESS:5432 check port 8008')

# Standbys, for REPORTS_DATABASE_URL.
listen replica
  bind $PROXY:5001
  mode tcp
  balance leastconn
  option tcpka
  option httpchk GET /replica
  default-server inter 1s downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
$(for_each "$DATABASES" '  server NAME ADDRESS:5432 check port 8008')

# Nodes that answer reads. A proxy in front of it ends TLS.
listen nodes
  bind $PROXY:8420
  mode http
  balance roundrobin
  option forwardfor
  option httpchk GET /readyz
  http-check expect status 200
  timeout client 90s
  timeout server 90s
  default-server inter 1s downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
$(for_each "$NODES" '  server NAME ADDRESS check')
END
echo "Wrote etcd.yaml and patroni.yaml of $(for_each "$DATABASES" NAME | comma), and haproxy.cfg, in $out"
