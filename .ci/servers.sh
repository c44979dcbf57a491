# What the steps need: packages, and real servers on free ports of the loopback interface. Sourced by `run`.

servers=()

# ---- What is needed ----------------------------------------------------------------------------------------------------

# Required by the tests, which compare TargetKit's declarations with libcurl's header, and by the C program of the
# benchmarks.
has_curl_headers() { compgen -G '/usr/include/curl/curl.h' > /dev/null || compgen -G '/usr/include/*/curl/curl.h' > /dev/null; }
has_venv() { python3 -c 'import ensurepip, venv' 2> /dev/null; }

missing_packages() {
    has_curl_headers || say libcurl4-openssl-dev
    command -v pkg-config > /dev/null || say pkg-config
    command -v openssl > /dev/null || say openssl
    [[ -n $(nginx_path) ]] || say nginx-light
    command -v valgrind > /dev/null || say valgrind
    command -v strace > /dev/null || say strace
    # A browser takes long to install, and only the timeline page needs one.
    if ((all)); then command -v chromium > /dev/null || say chromium; fi
    has_venv || printf '%s\n' python3 python3-venv
}

nginx_path() { PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx; }

install_packages() {
    local packages root=()
    mapfile -t packages < <(missing_packages)
    ((${#packages[@]} == 0)) && return 0
    ((EUID == 0)) || root=(sudo -n)
    export DEBIAN_FRONTEND=noninteractive
    "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

# install_python NAME PACKAGE…: in a folder of its own, since two servers need not agree on what they stand on. One folder
# has pip, which serves the others; it compiles nothing, since most of what it installs is never imported.
install_python() {
    local folder=$WORK/$1 pip=$WORK/pip/bin/pip
    [[ -x $pip ]] || python3 -m venv "$WORK/pip" || return
    python3 -m venv --without-pip "$folder" &&
        "$pip" --python "$folder/bin/python" install --quiet --no-compile --disable-pip-version-check "${@:2}"
}

# An index or a mirror is nobody's business.
without_urls() { sed -E 's#[a-z+]+://[^[:space:]]+#(url)#g' "$1" | tail -n 20; }

prepare() {
    local start=$SECONDS
    headline "what is needed"
    if ! limited 600 install_packages > "$WORK/apt.log" 2>&1; then
        without_urls "$WORK/apt.log"
        fail "installing packages"
    fi
    prepare_python httpbin 'httpbin>=0.10' gunicorn
    prepare_python oauth 'authlib>=1.6' flask
    prepare_python tus tuspyserver fastapi uvicorn
    prepare_python s3 'moto[s3,server]>=5'
    prepare_python websocket 'websockets>=13' aiohttp
    if ((all)); then prepare_python fastapi --requirement Generator/Tests/FastAPI/requirements.txt; fi
    swift --version 2> /dev/null | head -n 1
    took $((SECONDS - start)) "what is needed"
}

prepare_python() {
    limited 300 install_python "$@" > "$WORK/pip.log" 2>&1 && return 0
    without_urls "$WORK/pip.log"
    fail "installing $1"
}

# ---- Servers -----------------------------------------------------------------------------------------------------------

free_ports() {
    python3 - "$1" <<'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])
PYTHON
}

# answers PORT PATH: whether an HTTP server there says 200.
answers() {
    local line
    line=$(
        exec 2> /dev/null
        exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 1
        printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
        read -r -t 5 line <&3 && printf '%s' "$line"
    ) || return 1
    [[ $line == HTTP/1.?" 200"* ]]
}

# wait_for NAME PORT PATH LOG: at most 30 seconds.
wait_for() {
    local end=$((SECONDS + 30))
    until answers "$2" "$3"; do
        if ((SECONDS >= end)); then
            tail -n 20 "$4"
            fail "starting $1"
            return 1
        fi
        sleep 0.2
    done
    pass "starting $1"
}

start_httpbin() {
    local log=$WORK/httpbin.log
    [[ -x $WORK/httpbin/bin/gunicorn ]] || return 1
    # Its own home: gunicorn keeps a control socket there.
    HOME=$WORK "$WORK/httpbin/bin/gunicorn" --bind "127.0.0.1:$1" --workers 2 --worker-class gthread --threads 96 \
        --keep-alive 60 --graceful-timeout 1 --worker-tmp-dir "$WORK" httpbin:app > "$log" 2>&1 &
    servers+=("$!")
    wait_for httpbin "$1" /status/200 "$log" && export TARGETKIT_HTTPBIN=http://127.0.0.1:$1
}

start_oauth() {
    local log=$WORK/oauth.log
    [[ -x $WORK/oauth/bin/flask ]] || return 1
    "$WORK/oauth/bin/python" .ci/oauth_server.py "$1" > "$log" 2>&1 &
    servers+=("$!")
    wait_for "the OAuth server" "$1" / "$log" && export TARGETKIT_OAUTH=http://127.0.0.1:$1
}

start_tus() {
    local log=$WORK/tus.log
    [[ -x $WORK/tus/bin/uvicorn ]] || return 1
    mkdir -p "$WORK/tus-files"
    "$WORK/tus/bin/python" .ci/tus_server.py "$1" "$WORK/tus-files" > "$log" 2>&1 &
    servers+=("$!")
    wait_for "the tus server" "$1" /openapi.json "$log" && export TARGETKIT_TUS=http://127.0.0.1:$1
}

start_s3() {
    local log=$WORK/s3.log
    [[ -x $WORK/s3/bin/moto_server ]] || return 1
    "$WORK/s3/bin/moto_server" -H 127.0.0.1 -p "$1" > "$log" 2>&1 &
    servers+=("$!")
    wait_for "the S3 server" "$1" / "$log" && export TARGETKIT_S3=http://127.0.0.1:$1
}

# start_websockets PORT AIOHTTP_PORT PROXY_PORT
start_websockets() {
    local log=$WORK/websocket.log
    [[ -x $WORK/websocket/bin/python ]] || return 1
    "$WORK/websocket/bin/python" .ci/websocket_server.py "$1" "$2" "$3" > "$log" 2>&1 &
    servers+=("$!")
    wait_for "the WebSocket servers" "$1" / "$log" || return 1
    export TARGETKIT_WEBSOCKETS=http://127.0.0.1:$1
    export TARGETKIT_AIOHTTP=http://127.0.0.1:$2
    export TARGETKIT_TUNNELS=http://127.0.0.1:$3
}

# Starts three servers on free ports, which the script prints in one line.
start_fastapi() {
    local log=$WORK/fastapi.log line=
    [[ -x $WORK/fastapi/bin/uvicorn ]] || return 1
    PYTHONDONTWRITEBYTECODE=1 "$WORK/fastapi/bin/python" Generator/Tests/FastAPI/serve.py --port 0 > "$log" 2>&1 &
    servers+=("$!")
    local end=$((SECONDS + 30))
    until line=$(grep -m 1 '^{' "$log"); do
        if ((SECONDS >= end)); then
            tail -n 20 "$log"
            fail "starting the FastAPI servers"
            return 1
        fi
        sleep 0.2
    done
    pass "starting the FastAPI servers"
    export TARGETKIT_FASTAPI=$line
}

make_certificates() {
    local folder=$NGINX_ROOT/tls
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=TargetKit test authority" \
        -keyout "$folder/authority.key" -out "$folder/authority.pem" &&
        openssl req -new -newkey rsa:2048 -nodes -subj "/CN=localhost" \
            -keyout "$folder/server.key" -out "$folder/server.csr" &&
        openssl x509 -req -days 2 -in "$folder/server.csr" -CA "$folder/authority.pem" -CAkey "$folder/authority.key" \
            -CAcreateserial -extfile <(say "subjectAltName=DNS:localhost,IP:127.0.0.1") -out "$folder/server.pem"
}

# start_nginx PORT TLS_PORT WEBSOCKET_PORT
start_nginx() {
    local log=$NGINX_ROOT/logs/error.log
    mkdir -p "$NGINX_ROOT"/{tls,logs,files,empty,temp}
    say "anna:$(openssl passwd -apr1 'tea:time')" > "$NGINX_ROOT/users"
    make_certificates > "$NGINX_ROOT/logs/openssl.log" 2>&1 || tail -n 5 "$NGINX_ROOT/logs/openssl.log"
    sed -e "s|@ROOT@|$NGINX_ROOT|g" -e "s|@PORT@|$1|g" -e "s|@TLS_PORT@|$2|g" -e "s|@WEBSOCKET_PORT@|$3|g" \
        -e "s|@USER@|$(id -un)|g" -e "s|@GROUP@|$(id -gn)|g" .ci/nginx.conf.in > "$NGINX_ROOT/nginx.conf"
    "$(nginx_path)" -p "$NGINX_ROOT" -c "$NGINX_ROOT/nginx.conf" 2>> "$log" &
    servers+=("$!")
    wait_for nginx "$1" / "$log" || return 1
    export TARGETKIT_NGINX=http://127.0.0.1:$1
    export TARGETKIT_NGINX_TLS=https://localhost:$2
    export TARGETKIT_NGINX_CA=$NGINX_ROOT/tls/authority.pem
}

start_servers() {
    local ports
    headline "servers"
    mapfile -t ports < <(free_ports 9)
    start_httpbin "${ports[0]}"
    start_oauth "${ports[1]}"
    start_nginx "${ports[2]}" "${ports[3]}" "${ports[6]}"
    start_tus "${ports[4]}"
    start_s3 "${ports[5]}"
    start_websockets "${ports[6]}" "${ports[7]}" "${ports[8]}"
    if ((all)); then start_fastapi; fi
}

# Asks the servers to end, and makes them end after five seconds.
stop_servers() {
    local pid end=$((SECONDS + 5))
    for pid in "${servers[@]}"; do kill -TERM "$pid" 2> /dev/null; done
    for pid in "${servers[@]}"; do
        while kill -0 "$pid" 2> /dev/null && ((SECONDS < end)); do sleep 0.1; done
        kill_tree "$pid"
    done
    servers=()
}
