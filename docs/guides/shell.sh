# Shell functions for the guides and for the tour of README.md: `. docs/guides/shell.sh`, in the folder of the project.

# Where the API is, and where `npm start` keeps its data.
BASE=${BASE:-http://localhost:8420/api/v1}
export DATA_DIR=${DATA_DIR:-.strongroom}

# call TOKEN METHOD PATH [BODY]: sends one request and prints its answer.
call() { curl -sS -X "$2" "$BASE$3" -H "authorization: Bearer $1" ${4:+-H 'content-type: application/json' -d "$4"}; }

# field EXPRESSION: prints that part of a JSON answer, such as id or items[0].status. Fails with the answer if it has no such part.
field() {
  node -e '
    const answer = require("fs").readFileSync(0, "utf8")
    try { with (JSON.parse(answer)) console.log(eval(process.argv[1])) }
    catch (error) { console.error(`${process.argv[1]}: ${error.message}; the answer is ${answer}`); process.exit(1) }
  ' "$1"
}

# sign_in EMAIL: prints a token for that person. The operator makes the sign-in link instead of a mail.
sign_in() {
  local link
  link=$(node_modules/.bin/strongroom admin link "$1" | grep -o 'token=[A-Za-z0-9_-]*')
  curl -sS "$BASE/auth/magic-link/verify" -H 'content-type: application/json' -d '{"token": "'"${link#token=}"'"}' | field token
}

# group TOKEN CODE: prints the id of that policy group of the demo's vault.
group() { call "$1" GET '/vaults/treasury/policy-groups?limit=100' | field "items.find((group) => group.code === '$2').id"; }

# agreed: reads the answer to a change of the rules of the demo's vault, and lets the second administrator vote for it.
agreed() {
  local request
  request=$(field request.id)
  call "$(sign_in second.admin@strongroom.localhost)" POST "/vaults/treasury/approval-requests/$request/approve"
}

# mail_to EMAIL WORD: waits for a mail of the demo to that person with that word, a minute at most, and prints its file.
mail_to() {
  local file
  for _ in $(seq 120); do
    file=$(grep -ls "^To: $1" "$DATA_DIR"/outbox/*.eml | tr '\n' '\0' | xargs -0 -r grep -l "$2" | head -1)
    if [ -n "$file" ]; then echo "$file" && return; fi
    sleep 0.5
  done
  echo "no mail to $1 has the word $2" >&2
  return 1
}

# chain METHOD [PARAMS]: tells the local chain of the demo what to do, such as evm_mine.
chain() {
  local port
  port=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).chain' "$DATA_DIR/ports.json")
  curl -sS "http://127.0.0.1:$port" -H 'content-type: application/json' \
    -d '{"jsonrpc": "2.0", "id": 1, "method": "'"$1"'", "params": '"${2:-[]}"'}' | field result > /dev/null
}

# sql STATEMENT: does what an attacker with the database of the demo could do. Prints each row as a line of JSON.
sql() {
  node -e '
    const [dir, statement] = process.argv.slice(1)
    const read = (name) => require("fs").readFileSync(`${dir}/${name}`, "utf8")
    const [port, password] = [read("postgres/postmaster.pid").split("\n")[3], read("postgres-password").trim()]
    const { Client } = require("pg")
    const client = new Client(`postgres://strongroom:${password}@127.0.0.1:${port}/strongroom`)
    const print = ({ rows }) => rows.forEach((row) => console.log(JSON.stringify(row)))
    client.connect().then(() => client.query(statement)).then(print).finally(() => client.end())
  ' "$DATA_DIR" "$1"
}

# books_sealed: waits until the seals hold every entry of the books, which takes seconds.
books_sealed() {
  for _ in $(seq 120); do
    if [ "$(sql 'select count(*)::int as waiting from ledger_unsealed' | field waiting)" = 0 ]; then return; fi
    sleep 0.5
  done
  echo "entries of the books are still not sealed" >&2
  return 1
}

# company: prints the address of the company that `SSO_DEMO=on npm start` runs.
company() { node -p '`http://127.0.0.1:${JSON.parse(fs.readFileSync(process.argv[1])).company}`' "$DATA_DIR/ports.json"; }

# wait_for TOKEN PATH EXPRESSION VALUE: asks until that part of the answer has that value, for a minute at most.
wait_for() {
  local value
  for _ in $(seq 120); do
    value=$(call "$1" GET "$2" | field "$3")
    if [ "$value" = "$4" ]; then echo "$value" && return; fi
    sleep 0.5
  done
  echo "$2: $3 is still $value" >&2
  return 1
}
