// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The part of the script that draws the visible rows and their bars.
    static let listScript = #"""
        const scroller = byId("list"), space = byId("space"), axis = byId("axis");
        const collapsed = new Set(), pool = [];
        let rows = [], rowOf = new Map(), picked = null, pinned = null, first = 0, last = 0, scheduled = false;
        // The time ranges of the visible rows and of all calls.
        let range = { start: 0, end: 1 }, all = range, version = 0, height = 30;
        const isDark = matchMedia("(prefers-color-scheme: dark)");

        const rowHeight = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 30;

        function chosen(id, options) {
          return (options.find(option => option[0] === byId(id).value) || options[0])[2];
        }

        /** Computes the rows from the calls and the filters. */
        function refresh() {
          const words = byId("text").value.toLowerCase().split(/\s+/).filter(Boolean);
          const host = byId("host").value;
          const hasStatus = chosen("status", statuses), hasKind = chosen("source", kinds);
          const groups = new Map();
          let shown = 0, failed = 0, bytes = 0;
          for (const call of calls) {
            if (host && call.host !== host || !hasStatus(call) || !hasKind(call)) continue;
            if (!words.every(word => call.words.includes(word))) continue;
            shown += 1;
            if (call.isFailed) failed += 1;
            bytes += Math.max(0, call.bytes);
            const group = groups.get(call.group);
            if (group) group.push(call); else groups.set(call.group, [call]);
          }
          all = timeRange(calls);
          rows = [];
          rows.version = version += 1;
          rowOf = new Map();
          const names = [...groups.keys()].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
          for (const name of names) {
            const members = groups.get(name);
            members.sort((one, other) => one.start - other.start || one.index - other.index);
            rows.push({ group: name, count: members.length });
            if (collapsed.has(name)) continue;
            for (const member of members) {
              rowOf.set(member.index, rows.length);
              rows.push({ call: member });
            }
          }
          const of = shown === calls.length ? "" : " of " + calls.length;
          byId("summary").textContent = shown + of + (calls.length === 1 ? " request, " : " requests, ")
            + size(bytes) + (failed ? ", " + failed + " failed" : "");
          byId("empty").hidden = rows.length > 0;
          byId("empty").textContent = calls.length ? "No request matches the filters." : "No requests yet.";
          schedule();
        }

        function schedule() {
          if (scheduled) return;
          scheduled = true;
          requestAnimationFrame(() => {
            scheduled = false;
            draw();
          });
        }

        /** Fills the visible rows. Only they have elements. */
        function draw() {
          height = rowHeight();
          space.style.height = rows.length * height + "px";
          first = Math.max(0, Math.floor(scroller.scrollTop / height) - 4);
          last = Math.min(rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + 4);
          range = timeRange(rows.slice(first, last).filter(row => row.call).map(row => row.call));
          drawAxis();
          while (pool.length < last - first) pool.push(space.appendChild(element("div")));
          pool.forEach((node, index) => {
            const row = rows[first + index];
            node.hidden = first + index >= last;
            if (!node.hidden) fill(node, row, first + index);
          });
          if (picked !== null) scroller.setAttribute("aria-activedescendant", "row" + picked);
          else scroller.removeAttribute("aria-activedescendant");
          drawOverview();
        }

        function fill(node, row, index) {
          node.id = "row" + index;
          node.dataset.row = index;
          node.setAttribute("role", "option");
          node.setAttribute("aria-selected", index === picked);
          node.style.transform = "translateY(" + index * height + "px)";
          if (row.group !== undefined) {
            node.className = "row group" + (index === picked ? " picked" : "");
            node.textContent = (collapsed.has(row.group) ? "▸ " : "▾ ") + row.group + " (" + row.count + ")";
            return;
          }
          const call = row.call;
          node.className = "row k-" + call.kind + (index === picked ? " picked" : "")
            + (call === pinned ? " pinned" : "");
          const name = element("span", "name");
          const place = [call.host, call.target].filter(Boolean).join(" · ");
          name.append(
            element("i", "sign " + call.kind, call.sign), element("b", "", call.path), element("em", "", place)
          );
          name.title = call.host + call.path;
          const status = element("span", "status" + (call.isFailed ? " bad" : ""), mark(call));
          status.title = call.failure;
          const tags = element("span", "tags");
          for (const [kind, label] of call.tags) tags.append(element("span", "tag " + kind, label));
          node.replaceChildren(
            status, element("span", "method", call.method), name, tags, element("span", "size", size(call.bytes)),
            element("span", "time", duration(call.time)), bar(call)
          );
        }

        function mark(call) {
          if (call.isCancelled) return "cancelled";
          const status = call.status ? String(call.status) : call.isFailed ? "failed" : "–";
          return (call.isFailed ? "✕ " : "") + status;
        }

        /** The phases of a call, from the end of the attempt before it. */
        function bar(call) {
          const node = element("span", "bar"), width = range.end - range.start || 1;
          const place = (kind, start, time) => {
            const segment = element("i", "segment p-" + kind);
            const from = Math.max(0, (start - range.start) / width);
            const to = Math.min(1, (start + time - range.start) / width);
            if (to < 0 || from > 1) return;
            segment.style.left = "min(" + from * 100 + "%, 100% - 2px)";
            segment.style.width = Math.max(0, to - from) * 100 + "%";
            segment.title = kind + " " + duration(time);
            node.append(segment);
          };
          if (call.retryWait) place("retrying", call.start - call.retryWait, call.retryWait);
          let start = call.start;
          for (const [kind, time] of call.phases) {
            // Shorter times are the plugins' processing.
            if (kind === "wait" || time > (kind === "blocked" ? 1 : 0)) place(kind, start, time);
            start += time;
          }
          return node;
        }

        function timeRange(calls) {
          let start = Infinity, end = -Infinity;
          for (const call of calls) {
            start = Math.min(start, call.start - call.retryWait);
            end = Math.max(end, call.start + call.time);
          }
          return start <= end ? { start, end: Math.max(end, start + 1) } : { start: 0, end: 1 };
        }

        function drawAxis() {
          const width = range.end - range.start;
          const ticks = Math.max(1, Math.min(6, Math.floor(axis.clientWidth / 84)));
          const shares = Array.from({ length: ticks }, (_, index) => index / ticks);
          axis.replaceChildren(...shares.map(share => {
            const tick = element("span", "tick", moment(range.start - all.start + share * width, width / ticks));
            tick.style.left = share * 100 + "%";
            return tick;
          }));
        }

        const overview = byId("overview"), drawn = document.createElement("canvas");
        let drawnFor = null;

        /** Draws all calls by time, only when they have changed, and marks the visible time range. */
        function drawOverview() {
          const scale = devicePixelRatio || 1, width = overview.clientWidth, height = overview.clientHeight;
          const key = [rows.version, width, height, scale, isDark.matches].join();
          if (drawnFor !== key) {
            drawnFor = key;
            overview.width = drawn.width = width * scale;
            overview.height = drawn.height = height * scale;
            drawBars(drawn.getContext("2d"), width, height, scale);
          }
          const context = overview.getContext("2d"), length = all.end - all.start;
          const x = time => ((time - all.start) / length * (width - 20) + 10) * scale;
          context.clearRect(0, 0, overview.width, overview.height);
          context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--pick");
          context.fillRect(x(range.start), 0, Math.max(3, x(range.end) - x(range.start)), overview.height);
          if (drawn.width && drawn.height) context.drawImage(drawn, 0, 0);
        }

        function drawBars(context, width, height, scale) {
          const style = getComputedStyle(document.documentElement), length = all.end - all.start, colors = {};
          const lanes = Math.max(1, Math.floor((height - 6) / 3));
          context.scale(scale, scale);
          for (const row of rows) {
            if (!row.call) continue;
            const call = row.call, name = call.kind === "none" ? "plugin" : call.kind;
            context.fillStyle = colors[name] = colors[name] || style.getPropertyValue("--" + name);
            const left = (call.start - all.start) / length * (width - 20) + 10, lane = 3 + call.index % lanes * 3;
            context.fillRect(left, lane, Math.max(2, call.time / length * (width - 20)), 2);
          }
        }
        """#
}
