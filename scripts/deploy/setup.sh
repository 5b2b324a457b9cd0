#!/bin/sh
# Runs before the other containers of compose.yaml, at every start, as root without a network:
#
#   setup.sh SECRETS S3 CADDY PROMETHEUS     the folders of these volumes
#
# Creates the secrets at the first start. Every start writes them to files that only the user of one container can read.
set -eu
umask 077
secrets=$1 s3=$2 caddy=$3 prometheus=$4

# secret NAME: prints a secret of 64 hexadecimal digits, the same at every start.
secret() {
  if [ ! -s "$secrets/root/$1" ]; then
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$secrets/root/$1.new"
    mv "$secrets/root/$1.new" "$secrets/root/$1"
  fi
  cat "$secrets/root/$1"
}

# file NAME USER: writes standard input to a file that only this user can read.
file() {
  cat >"$secrets/$1.new"
  chown "$2" "$secrets/$1.new"
  chmod 400 "$secrets/$1.new"
  mv "$secrets/$1.new" "$secrets/$1"
}

mkdir -p "$secrets/root"
chmod 711 "$secrets"

# Separate commands, because the shell ignores failures of substitutions within other commands.
postgres_administrator=$(secret postgres-administrator)
postgres=$(secret postgres)
neo4j=$(secret neo4j)
redis=$(secret redis)
s3_administrator=$(secret s3-administrator)
s3_secret=$(secret s3)
token_key=$(secret token-key)
grafana=$(secret grafana)

file postgres-password "$POSTGRES_USER_ID" <<END
$postgres_administrator
END
file postgres-service-password "$POSTGRES_USER_ID" <<END
$postgres
END
file neo4j-auth "$NEO4J_USER_ID" <<END
neo4j/$neo4j
END
file redis.conf "$REDIS_USER_ID" <<END
requirepass $redis
END
file s3.env "$S3_USER_ID" <<END
ROOT_ACCESS_KEY_ID=administrator
ROOT_SECRET_ACCESS_KEY=$s3_administrator
ADMIN_ACCESS_KEY_ID=administrator
ADMIN_SECRET_ACCESS_KEY=$s3_administrator
END
mkdir -p "$secrets/s3-users"
chmod 711 "$secrets/s3-users"
file s3-users/users.json "$S3_USER_ID" <<END
{"accessAccounts":{"social":{"access":"social","secret":"$s3_secret","role":"user"}}}
END
file grafana-password "$GRAFANA_USER_ID" <<END
$grafana
END
file database-url "$SERVICE_USER_ID" <<END
postgres://social:$postgres@postgres/social
END
file neo4j-password "$SERVICE_USER_ID" <<END
$neo4j
END
file redis-url "$SERVICE_USER_ID" <<END
redis://:$redis@redis/0
END
file s3-secret-key "$SERVICE_USER_ID" <<END
$s3_secret
END
# The operator changes this file to rotate the keys. RUNBOOK.md explains how. An earlier version kept them in root/token-keys.
if [ ! -s "$secrets/token-keys" ]; then
  [ -s "$secrets/root/token-keys" ] || echo "1:$token_key" >"$secrets/root/token-keys"
  file token-keys "$SERVICE_USER_ID" <"$secrets/root/token-keys"
fi

# versitygw stores a bucket as a folder. New volumes belong to root.
mkdir -p "$s3/images"
chown "$S3_USER_ID" "$s3" "$s3/images"

# A copy, because a container with a single file of the host keeps the old one when an upgrade replaces it.
cp "$(dirname "$0")/Caddyfile" "$caddy"
chown "$CADDY_USER_ID" "$caddy" "$caddy/Caddyfile"

# Prometheus reads the host name of the site from a file.
cp "$(dirname "$0")"/prometheus/prometheus.yaml "$(dirname "$0")"/prometheus/alerts.yaml "$prometheus"
echo "- targets: [\"$SITE\"]" >"$prometheus/site.yaml"
chmod 755 "$prometheus"
chmod 644 "$prometheus"/*.yaml
