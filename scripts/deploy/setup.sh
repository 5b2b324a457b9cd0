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
postgres=$(secret postgres)
neo4j=$(secret neo4j)
redis=$(secret redis)
s3_secret=$(secret s3)
token_key=$(secret token-key)
# README.md, section "Compose", explains how to rotate the keys in token-keys.
if [ ! -s "$secrets/root/token-keys" ]; then
  echo "1:$token_key" >"$secrets/root/token-keys.new"
  mv "$secrets/root/token-keys.new" "$secrets/root/token-keys"
fi
token_keys=$(cat "$secrets/root/token-keys")
grafana=$(secret grafana)

file postgres-password "$POSTGRES_USER_ID" <<END
$postgres
END
file neo4j-auth "$NEO4J_USER_ID" <<END
neo4j/$neo4j
END
file redis.conf "$REDIS_USER_ID" <<END
requirepass $redis
END
file s3.env "$S3_USER_ID" <<END
ROOT_ACCESS_KEY_ID=social
ROOT_SECRET_ACCESS_KEY=$s3_secret
END
file grafana-password "$GRAFANA_USER_ID" <<END
$grafana
END
file service.env "$SERVICE_USER_ID" <<END
TOKEN_KEYS=$token_keys
DATABASE_URL=postgres://social:$postgres@postgres/social
NEO4J_PASSWORD=$neo4j
REDIS_URL=redis://:$redis@redis/0
AWS_ACCESS_KEY_ID=social
AWS_SECRET_ACCESS_KEY=$s3_secret
END

# versitygw stores a bucket as a folder. New volumes belong to root.
mkdir -p "$s3/images"
chown "$S3_USER_ID" "$s3" "$s3/images"
chown "$CADDY_USER_ID" "$caddy"

# Prometheus reads the host name of the site from a file.
cp "$(dirname "$0")"/prometheus/prometheus.yaml "$(dirname "$0")"/prometheus/alerts.yaml "$prometheus"
echo "- targets: [\"$SITE\"]" >"$prometheus/site.yaml"
chmod 755 "$prometheus"
chmod 644 "$prometheus"/*.yaml
