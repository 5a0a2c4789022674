/**
 * `<state>/launcher`, the one path that agents' configuration names: `launcher holder`, `launcher hook <arguments>`,
 * `launcher gateway <arguments>`. It finds the programs in use and a Node that still exists each time it runs, so an
 * update of the editor or of Bowline breaks no running agent. POSIX sh. It finds the state directory by its own place.
 *
 * - Candidates for Node: the lines of versions/nodes (the editor's own first; written by a program that ran on them, so
 *   to exist is enough), then PATH and the usual places (asked for their version).
 * - ELECTRON_RUN_AS_NODE makes the editor's own binary a Node; to a real Node it means nothing.
 * - A hook never disturbs Claude: whatever is missing, it ends quietly with 0. Else: a sentence on stderr, exit 127.
 */
export const launcherScript = String.raw`#!/bin/sh
# Written by Bowline; replaced at each update.
case $0 in
  /*) state=${'${0%/*}'} ;;
  */*) state=$(CDPATH= cd -- "${'${0%/*}'}" && pwd) || exit 127 ;;
  *) state=$(pwd) ;;
esac
role=${'${1:-}'}
[ $# -gt 0 ] && shift
PATH=${'${PATH:-}'}:/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin
BOWLINE_HOME=$state
ELECTRON_RUN_AS_NODE=1
export PATH BOWLINE_HOME ELECTRON_RUN_AS_NODE
unset NODE_OPTIONS NODE_PATH VSCODE_INSPECTOR_OPTIONS

refuse() {
  [ "$role" = hook ] && exit 0
  echo "Bowline: $1" >&2
  exit 127
}

is_new_enough() {
  [ -f "$1" ] && [ -x "$1" ] &&
    "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' \
      </dev/null >/dev/null 2>&1
}

find_node() {
  if [ -r "$state/versions/nodes" ]; then
    while IFS= read -r node || [ -n "$node" ]; do
      [ -f "$node" ] && [ -x "$node" ] && return 0
    done <"$state/versions/nodes"
  fi
  node=$(command -v node 2>/dev/null) && is_new_enough "$node" && return 0
  home=${'${HOME:-/nonexistent}'}
  for node in \
    "$home"/.vscode-server/cli/servers/*/server/node "$home"/.vscode-server/bin/*/node \
    "$home"/.volta/bin/node "$home"/.local/bin/node "$home"/.nvm/versions/node/*/bin/node \
    "$home"/.local/share/fnm/node-versions/*/installation/bin/node \
    /usr/share/code/code /opt/visual-studio-code/code \
    "/Applications/Visual Studio Code.app/Contents/MacOS/Code" \
    "/Applications/Visual Studio Code.app/Contents/MacOS/Electron"
  do
    is_new_enough "$node" && return 0
  done
  return 1
}

find_programs() {
  current=
  [ -r "$state/versions/current" ] && IFS= read -r current <"$state/versions/current"
  case $current in
    '' | */* | .*) refuse "no version is installed in $state/versions. Open VS Code with Bowline once." ;;
  esac
  programs=$state/versions/$current
  [ -f "$programs/$1.js" ] || refuse "$programs/$1.js is missing. Open VS Code with Bowline once."
  find_node || refuse "no Node.js 20.19 or newer was found. Install Node.js, or open VS Code with Bowline once."
}

case $role in
  hook | gateway)
    find_programs "$role"
    exec "$node" "$programs/$role.js" "$@"
    ;;
  holder)
    wait_steps='0 0.2 0.4 0.8 1.6 3.2 5'
    steps=$wait_steps
    while [ -d "$state/versions" ]; do
      find_programs holder
      began=$(date +%s)
      "$node" "$programs/holder.js" "$state" "$programs/gateway.js" "$@" && exit 0
      [ $(($(date +%s) - began)) -gt 10 ] && steps=$wait_steps
      sleep "${'${steps%% *}'}" 2>/dev/null || sleep 1
      case $steps in *' '*) steps=${'${steps#* }'} ;; esac
    done
    ;;
  *)
    refuse 'usage: launcher holder | hook <arguments> | gateway <arguments>'
    ;;
esac
`;
