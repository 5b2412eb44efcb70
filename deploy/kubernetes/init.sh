#!/bin/sh
# Asks the questions of ../compose/init.sh, and makes .env and the secrets here, for the databases of this folder.
set -eu
FOLDER=$(cd "$(dirname "$0")" && pwd)
export FOLDER DATABASE=strongroom-database-rw WALLET_DATABASE=wallet-database-rw
exec sh "$FOLDER/../compose/init.sh"
