// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The part of the script that handles input and new entries.
    static let controlScript = #"""
        function pick(index, opens) {
          if (!rows.length) return;
          picked = Math.max(0, Math.min(rows.length - 1, index));
          const top = picked * height;
          if (top < scroller.scrollTop) scroller.scrollTop = top;
          if (top + height > scroller.scrollTop + scroller.clientHeight) {
            scroller.scrollTop = top + height - scroller.clientHeight;
          }
          if (opens || !details.hidden) show();
          schedule();
        }

        function toggle(group) {
          if (!collapsed.delete(group)) collapsed.add(group);
          refresh();
        }

        /** Preserves the selected call when rows are added or removed. */
        function update() {
          const call = picked !== null && rows[picked] ? rows[picked].call : undefined;
          const isAtEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 4;
          refresh();
          const row = call && rowOf.get(call.index);
          picked = row === undefined ? null : row;
          if (pinned) pinned = calls[pinned.index];
          if (call && row === undefined) hide();
          else if (call && rows[row].call !== call && !details.hidden) show();
          return isAtEnd;
        }

        function pin() {
          const row = rows[picked];
          pinned = pinned || !row || !row.call ? null : row.call;
          // On a narrow screen, the details hide the list, in which the user chooses the other request.
          if (pinned && matchMedia("(max-width: 700px)").matches) hide();
          else if (row && row.call) show();
        }

        const moves = {
          ArrowDown: page => 1, ArrowUp: page => -1, PageDown: page => page, PageUp: page => -page,
          Home: page => -Infinity, End: page => Infinity
        };

        function key(event) {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const isTyping = /^(INPUT|SELECT)$/.test(event.target.tagName);
          if (event.key === "Escape") {
            if (isTyping) {
              if (event.target.id === "text") event.target.value = "";
              update();
              scroller.focus();
            } else if (pinned) {
              pinned = null;
              if (!details.hidden) show();
            } else hide();
            scroller.focus();
          } else if (isTyping) {
            if (event.target.id === "text" && (event.key === "Enter" || event.key === "ArrowDown")) {
              scroller.focus();
              pick(rows.findIndex(row => row.call), false);
            } else return;
          } else if (event.key === "/") byId("text").focus();
          else if (event.key === "c") pin();
          else if (event.target.tagName === "BUTTON" || event.target === content) return;
          else if (event.key in moves) {
            const step = moves[event.key](Math.max(1, Math.floor(scroller.clientHeight / height) - 1));
            pick(picked === null ? (step > 0 ? 0 : rows.length - 1) : picked + step, false);
          } else if (event.key === "Enter" && picked !== null) {
            const row = rows[picked];
            if (row.group !== undefined) toggle(row.group); else show();
          } else return;
          event.preventDefault();
        }

        function fillSelect(id, options) {
          const select = byId(id), value = select.value;
          select.replaceChildren(...options.map(([value, label]) => {
            const option = element("option", "", label);
            option.value = value;
            return option;
          }));
          select.value = value;
          if (select.selectedIndex < 0) select.value = "";
        }

        let hostCount = -1;

        function updateHosts() {
          const hosts = [...new Set(calls.map(call => call.host))].filter(Boolean).sort();
          if (hosts.length === hostCount) return;
          hostCount = hosts.length;
          fillSelect("host", [["", "All hosts"]].concat(hosts.map(host => [host, host])));
        }

        function drawLegend() {
          const meanings = [
            ["k-network", "p-wait", "network"], ["k-retry", "p-wait", "↻ retry"], ["k-refresh", "p-wait", "◆ refresh"],
            ["k-cache", "p-wait", "▣ cache"], ["k-stub", "p-wait", "◌ stub"], ["k-shared", "p-wait", "⇄ shared"],
            ["k-failed", "p-wait", "✕ failed"], ["", "p-blocked", "wait"], ["", "p-connect", "connect"]
          ];
          for (const [kind, phase, label] of meanings) {
            const item = element("span", kind);
            item.append(element("i", phase), label);
            byId("legend").append(item);
          }
          const keys = element("span", "keys");
          const uses = [["/", "filter"], ["↑↓", "move"], ["Enter", "open"], ["c", "compare"], ["Esc", "close"]];
          for (const [key, label] of uses) {
            keys.append(element("kbd", "", key), label);
          }
          byId("legend").append(keys);
        }

        /** Receives entries as server-sent events, and draws at most once per frame. */
        function listen(address) {
          let waiting = [], bad = 0;
          const state = () => bad ? ", " + bad + " unreadable" : "";
          const events = new EventSource(address);
          events.onopen = () => { byId("state").textContent = "● live" + state(); };
          events.onerror = () => {
            byId("state").textContent = events.readyState === EventSource.CLOSED ? "○ ended" : "○ reconnecting";
          };
          byId("state").textContent = "○ connecting";
          events.onmessage = event => {
            if (!waiting.length) requestAnimationFrame(() => {
              const entries = waiting;
              waiting = [];
              entries.forEach(add);
              updateHosts();
              if (update()) requestAnimationFrame(() => { scroller.scrollTop = scroller.scrollHeight; });
            });
            try {
              waiting.push(JSON.parse(event.data));
            } catch {
              bad += 1;
              byId("state").textContent = "● live" + state();
            }
          };
        }

        function begin() {
          byId("title").textContent = document.title;
          fillSelect("status", statuses);
          fillSelect("source", kinds);
          drawLegend();
          const entries = object(object(JSON.parse(byId("har").textContent)).log).entries;
          list(entries).forEach(add);
          updateHosts();
          refresh();
          for (const id of ["text", "status", "host", "source"]) byId(id).addEventListener("input", update);
          scroller.addEventListener("scroll", schedule, { passive: true });
          new ResizeObserver(schedule).observe(scroller);
          isDark.addEventListener("change", schedule);
          addEventListener("keydown", key);
          byId("close").addEventListener("click", () => { hide(); scroller.focus(); });
          byId("pin").addEventListener("click", pin);
          space.addEventListener("click", event => {
            const node = event.target.closest("[data-row]"), row = node && rows[node.dataset.row];
            if (!row) return;
            picked = Number(node.dataset.row);
            if (row.group !== undefined) toggle(row.group); else show();
            schedule();
          });
          overview.addEventListener("click", event => {
            const share = (event.offsetX - 10) / (event.target.clientWidth - 20);
            const time = all.start + share * (all.end - all.start);
            let nearest = -1, distance = Infinity;
            rows.forEach((row, index) => {
              const gap = row.call ? Math.abs(row.call.start - time) : Infinity;
              if (gap < distance) [nearest, distance] = [index, gap];
            });
            if (nearest >= 0) scroller.scrollTop = nearest * height - scroller.clientHeight / 2;
          });
          if (document.body.dataset.events) listen(document.body.dataset.events);
        }

        begin();
        """#
}
