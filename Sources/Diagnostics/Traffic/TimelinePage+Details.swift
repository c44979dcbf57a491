// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The part of the script that shows one call or compares two.
    static let detailsScript = #"""
        const details = byId("details"), content = byId("content");

        /** JSON with line breaks, without changing its numbers. */
        function indented(json) {
          let result = "", depth = 0, isString = false;
          const line = () => "\n" + "  ".repeat(Math.min(depth, 40));
          for (let index = 0; index < json.length; index += 1) {
            const character = json[index];
            if (isString) {
              result += character;
              if (character === "\\") result += json[index += 1] || "";
              else if (character === '"') isString = false;
            } else if (character === '"') {
              isString = true;
              result += character;
            } else if (character === "{" || character === "[") {
              const rest = /^\s*([}\]])/.exec(json.slice(index + 1, index + 50));
              if (rest) {
                result += character + rest[1];
                index += rest[0].length;
              } else {
                depth += 1;
                result += character + line();
              }
            } else if (character === "}" || character === "]") {
              depth = Math.max(0, depth - 1);
              result += line() + character;
            } else if (character === ",") result += character + line();
            else if (character === ":") result += ": ";
            else if (!/\s/.test(character)) result += character;
          }
          return result;
        }

        // Laying out more text takes seconds.
        const bodyLimit = 200000, lineLimit = 4000;

        function shownBody(text, type) {
          const isJSON = /json/i.test(type) || /^\s*[[{]/.test(text);
          const shown = isJSON && text.length < bodyLimit ? indented(text) : text;
          // Deeply nested JSON grows when it is indented.
          return (shown.length > bodyLimit * 2 ? text : shown).slice(0, bodyLimit * 2);
        }

        const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

        function body(container, content, other) {
          const box = element("div"), mime = text(content.mimeType).split(";")[0].trim().toLowerCase();
          const value = text(content.text);
          if (content.encoding === "base64" && images.includes(mime)) {
            const image = element("img");
            image.alt = mime;
            image.src = "data:" + mime + ";base64," + value.replace(/[^A-Za-z0-9+/=]/g, "");
            box.append(image);
          } else if (value) {
            const pre = element("pre"), shown = shownBody(value, mime);
            const lines = shown.split("\n");
            if (other && lines.length < lineLimit) {
              const theirs = new Set(shownBody(text(other.text), text(other.mimeType)).split("\n"));
              for (const line of lines) {
                pre.append(element("span", theirs.has(line) ? "" : "differs", line), "\n");
              }
            } else pre.textContent = shown;
            box.append(pre);
          }
          if (value.length > bodyLimit * 2) box.append(element("p", "note", "The page shows the beginning of the body."));
          if (content.comment) box.append(element("p", "note", text(content.comment)));
          else if (!value) box.append(element("p", "note", "No body."));
          container.append(box);
        }

        function fields(headers) {
          const fields = new Map();
          for (const header of list(headers)) {
            const name = text(object(header).name).toLowerCase(), value = text(object(header).value);
            fields.set(name, fields.has(name) ? fields.get(name) + "\n" + value : value);
          }
          return fields;
        }

        function general(call) {
          const raw = call.raw, response = object(raw.response), request = object(raw.request);
          const milliseconds = value => count(value) >= 0 ? duration(value) : "";
          const timings = object(raw.timings);
          return new Map([
            ["URL", text(request.url)], ["Method", call.method], ["Status", call.status ? String(call.status) : "none"],
            ["Failure", [call.failure, text(raw._message)].filter(Boolean).join("\n")],
            ["Target", call.target], ["Source", labels[call.source] + (raw._origin ? ", " + text(raw._origin) : "")],
            ["Attempt", raw._attempt === undefined ? "" : String(call.attempt + 1)],
            ["Redirects before", part(raw._hop) ? String(part(raw._hop)) : ""],
            ["Refresh", call.isRefresh ? "of a credential" : ""],
            ["Call", text(raw._call)], ["Started", text(raw.startedDateTime)], ["Time", duration(call.time)],
            ["Wait before retry", call.retryWait ? duration(call.retryWait) : ""],
            ["Blocked", milliseconds(timings.blocked)], ["DNS", milliseconds(timings.dns)],
            ["Connect", milliseconds(timings.connect)], ["TLS", milliseconds(timings.ssl)],
            ["First byte", milliseconds(timings.wait)], ["Receive", milliseconds(timings.receive)],
            ["Body sent", size(count(request.bodySize))], ["Body received", size(count(response.bodySize))],
            ["Decoded", size(call.bytes)], ["HTTP", text(response.httpVersion)], ["Address", text(raw.serverIPAddress)]
          ]);
        }

        function pairs(title, maps) {
          const keys = new Set(maps.flatMap(map => [...map.keys()]));
          const grid = element("div", "pairs");
          for (const key of keys) {
            const values = maps.map(map => map.get(key) || "");
            if (values.every(value => value === "" || value === "–")) continue;
            const differs = values.length > 1 && values[0] !== values[1];
            grid.append(element("div", "key", (differs ? "≠ " : "") + key));
            for (const value of values) grid.append(element("div", differs ? "differs" : "", value || "–"));
          }
          if (!grid.childElementCount) grid.append(element("div", "key", "None."));
          content.append(element("h2", "", title), grid);
        }

        /** Shows the selected call, beside the pinned one if any. */
        function show() {
          const row = rows[picked], call = row && row.call;
          if (!call) return hide();
          const shown = pinned && pinned !== call ? [pinned, call] : [call];
          details.hidden = false;
          details.classList.toggle("two", shown.length > 1);
          byId("subject").textContent = shown.map(call => call.method + " " + call.path).join(" ↔ ");
          byId("pin").textContent = pinned === call || shown.length > 1 ? "Stop comparing" : "Compare";
          content.replaceChildren();
          if (pinned === call) content.append(element("p", "note", "Choose the request to compare it with."));
          pairs("General", shown.map(general));
          for (const [title, name, data] of [["Request", "request", "postData"], ["Response", "response", "content"]]) {
            const sides = shown.map(call => object(call.raw[name]));
            pairs(title + " header fields", sides.map(side => fields(side.headers)));
            content.append(element("h2", "", title + " body"));
            const bodies = element("div", "bodies");
            sides.forEach((side, index) => {
              body(bodies, object(side[data]), sides.length > 1 ? object(sides[1 - index][data]) : undefined);
            });
            content.append(bodies);
          }
          content.scrollTop = 0;
          schedule();
        }

        function hide() {
          details.hidden = true;
          schedule();
        }
        """#
}
