// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The part of the script that reads entries. It doesn't trust them: values of unexpected types are ignored, and
    /// strings are only set as text.
    static let modelScript = #"""
        "use strict";
        const byId = id => document.getElementById(id);
        const text = value => typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
        const count = value => Number.isFinite(value) ? value : -1;
        const object = value => value !== null && typeof value === "object" ? value : {};
        const list = value => Array.isArray(value) ? value : [];
        const part = value => Math.max(0, count(value));

        function element(name, classes, content) {
          const node = document.createElement(name);
          if (classes) node.className = classes;
          if (content !== undefined) node.textContent = content;
          return node;
        }

        function duration(ms) {
          if (ms < 0) return "–";
          if (ms === 0) return "0 ms";
          if (ms < 10) return ms.toFixed(1) + " ms";
          if (ms < 1000) return Math.round(ms) + " ms";
          if (ms < 60000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s";
          return Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s";
        }

        /** A time since the first request, with the precision that the step between two ticks requires. */
        function moment(ms, step) {
          if (ms < 60000) return step < 20 && ms < 1000 ? ms.toFixed(step < 2 ? 1 : 0) + " ms" : duration(ms);
          const digits = step < 100 ? 2 : step < 2000 ? 1 : 0, seconds = (ms % 60000 / 1000).toFixed(digits);
          return Math.floor(ms / 60000) + ":" + seconds.padStart(digits ? digits + 3 : 2, "0");
        }

        function size(bytes) {
          if (bytes < 0) return "–";
          if (bytes < 1000) return bytes + " B";
          if (bytes < 1e6) return (bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0) + " kB";
          return (bytes / 1e6).toFixed(1) + " MB";
        }

        function address(url) {
          try {
            const parsed = new URL(url);
            return { host: parsed.host, path: parsed.pathname + parsed.search };
          } catch {
            return { host: "", path: url || "(no request)" };
          }
        }

        const labels = {
          network: "network", cache: "cache", stub: "stub", shared: "shared", plugin: "plugin", none: "not sent"
        };
        /** The symbols that represent the color of a row if its tags don't fit. */
        const signs = {
          network: "", cache: "▣", stub: "◌", shared: "⇄", plugin: "◇", none: "∅", retry: "↻", refresh: "◆", failed: ""
        };
        const sources = Object.keys(labels);

        /** The values that the list needs of an entry, computed once. */
        function call(raw, index) {
          raw = object(raw);
          const request = object(raw.request), response = object(raw.response);
          const timings = object(raw.timings), waits = object(raw._waits);
          const url = text(request.url), { host, path } = address(url);
          const status = part(response.status), failure = text(raw._failure) || (raw._error ? "failed" : "");
          const source = sources.includes(raw._source) ? raw._source
            : raw._fromCache ? "cache" : "network";
          const attempt = part(raw._attempt), hop = part(raw._hop);
          const isCancelled = failure === "cancelled";
          const isFailed = !isCancelled && (failure !== "" || status >= 400 || status === 0 && raw._isOpen !== true);
          const kind = isFailed ? "failed" : isCancelled ? "none" : source !== "network" ? source
            : raw._isRefresh === true ? "refresh" : attempt > 0 ? "retry" : "network";
          const sign = [...new Set([
            signs[source], raw._isRefresh === true ? signs.refresh : "", attempt > 0 ? signs.retry : "",
            hop > 0 ? "→" : ""
          ])].join("");
          const tags = [];
          if (source !== "network") tags.push([source, labels[source]]);
          if (raw._isRefresh === true) tags.push(["refresh", "refresh"]);
          if (attempt > 0) tags.push(["retry", "↻ retry " + attempt]);
          if (hop > 0) tags.push(["", "→ hop " + hop]);
          if (raw._isOpen === true) tags.push(["open", "open"]);
          const start = Date.parse(raw.startedDateTime);
          const phases = [
            ["blocked", part(timings.blocked)],
            ["connect", part(timings.dns) + part(timings.connect)],
            ["wait", part(timings.send) + part(timings.wait)],
            ["receive", part(timings.receive)]
          ];
          const target = text(raw._target), method = text(request.method) || "GET";
          return {
            raw, index, host, path, status, failure, source, attempt, kind, sign, tags, phases, target, method,
            isFailed, isCancelled, isRefresh: raw._isRefresh === true,
            start: Number.isFinite(start) ? start : 0,
            time: Math.max(part(raw.time), phases.reduce((sum, phase) => sum + phase[1], 0)),
            retryWait: part(waits.retry),
            bytes: count(object(response.content).size),
            group: (raw._scope === undefined ? "" : "Scope " + text(raw._scope) + " · ")
              + (text(raw._provider) || host || "no host"),
            words: [url, target, method, status || "", source, failure, text(raw._message)].join(" ").toLowerCase()
          };
        }

        const calls = [], places = new Map();

        function add(raw) {
          const id = text(object(raw)._id), known = id ? places.get(id) : undefined;
          const index = known === undefined ? calls.length : known;
          calls[index] = call(raw, index);
          if (id) places.set(id, index);
        }

        const statuses = [
          ["", "All statuses", () => true],
          ["2", "2xx", call => Math.floor(call.status / 100) === 2],
          ["3", "3xx", call => Math.floor(call.status / 100) === 3],
          ["4", "4xx", call => Math.floor(call.status / 100) === 4],
          ["5", "5xx", call => Math.floor(call.status / 100) === 5],
          ["failed", "Failed", call => call.isFailed]
        ];
        const kinds = [["", "All sources", () => true]]
          .concat(sources.map(source => [source, labels[source], call => call.source === source]))
          .concat([["retry", "retries", call => call.attempt > 0], ["refresh", "refreshes", call => call.isRefresh]]);
        """#
}
