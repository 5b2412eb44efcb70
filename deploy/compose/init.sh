#!/bin/sh
# Asks four questions, and makes .env and the secrets. Existing files are kept: run it again after adding a setting.
# ../kubernetes/init.sh runs it with the names of its databases.
set -eu
umask 077
cd "${FOLDER:-$(dirname "$0")}"
database=${DATABASE:-database}
wallet_database=${WALLET_DATABASE:-wallet-database}

ask() {
  printf '%s\n  (such as %s): ' "$2" "$3" >&2
  IFS= read -r answer || answer=
  if [ -z "$answer" ]; then
    echo "init.sh: an answer is needed" >&2
    exit 1
  fi
  # Each answer is written into one line of a file, some of them in quotes.
  case $answer in
    *[\"\'\\\`\$]* | *' '*) echo "init.sh: an answer has no spaces, quotes, dollar signs or backslashes" >&2; exit 1 ;;
  esac
  eval "$1=\$answer"
}

# Other users of the machine cannot open the folder. Its files are readable, because the programs in the containers run as other users.
mkdir -p secrets
chmod 700 secrets
put() {
  if [ -e "secrets/$1" ]; then cat > /dev/null; return; fi
  cat > "secrets/$1.part"
  chmod 444 "secrets/$1.part"
  mv "secrets/$1.part" "secrets/$1"
}
random() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

if [ ! -e .env ] || [ ! -e secrets/smtp-url ] || [ ! -e secrets/wallet-chains ]; then
  ask HOST_NAME 'Under which DNS name do people reach Strongroom?' vault.example.org
  ask ADMIN 'Who administers the platform, by e-mail address?' operator@example.org
  ask SMTP 'Which mail server sends the mails of Strongroom?' smtps://user:password@mail.example.org
  ask RPC 'Which Ethereum node does the wallet service use?' https://rpc.example.org
  printf '%s' "$SMTP" | put smtp-url
  printf '{"ethereum": {"rpcUrl": "%s", "chainId": 1}}' "$RPC" | put wallet-chains
  if [ ! -e .env ]; then
    cat > .env.part <<END
STRONGROOM_VERSION=$(sed -n 's/^  *"version": "\([^"]*\)".*/\1/p' ../../server/package.json | head -n 1)
STRONGROOM_HOST=$HOST_NAME
STRONGROOM_ADMIN_EMAIL=$ADMIN
STRONGROOM_MAIL_FROM="Strongroom <$ADMIN>"
END
    mv .env.part .env
  fi
fi

random | put database-owner-password
random | put database-login-password
printf 'postgresql://strongroom_owner:%s@%s/strongroom' "$(cat secrets/database-owner-password)" "$database" | put database-owner-url
printf 'postgresql://strongroom_login:%s@%s/strongroom' "$(cat secrets/database-login-password)" "$database" | put database-url
random | put secret-key
random | put webhook-secret
random | put metrics-token
random | put wallet-database-password
printf 'postgresql://wallet:%s@%s/wallet' "$(cat secrets/wallet-database-password)" "$wallet_database" | put wallet-database-url
random | put wallet-passphrase

echo "The settings are in .env, and the secrets in secrets/. Keep copies of secret-key and wallet-passphrase apart from this machine:" >&2
echo "without them, neither the sealed secrets nor the keys of the wallet service can be decrypted." >&2
