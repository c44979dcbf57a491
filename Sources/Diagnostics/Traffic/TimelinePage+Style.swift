// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The style sheet. Text or a pattern accompanies each color.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --ground: #ffffff; --panel: #f5f6f8; --line: #dcdfe4; --text: #1c2128; --dim: #59636e;
          --pick: #dbeafe; --focus: #0b63ce; --mark: #fff3c4;
          --network: #3b82d0; --cache: #2f9e64; --stub: #8a94a0; --shared: #1c98a6; --plugin: #7a8794;
          --retry: #d9730d; --refresh: #8b5cd6; --failed: #d1383d; --wait: #c9a227; --connect: #9db8d6;
          --row: 30px;
          font: 13px/1.4 system-ui, -apple-system, "Segoe UI", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #16191d; --panel: #1f2329; --line: #353b44; --text: #e6e9ed; --dim: #9aa4af;
            --pick: #1d3a5f; --focus: #6cb0ff; --mark: #4d431a;
            --network: #5aa2ec; --cache: #4cc38a; --stub: #88929d; --shared: #43bccb; --plugin: #8d99a6;
            --retry: #f59a3c; --refresh: #b18cf0; --failed: #ff6b6f; --wait: #dfba45; --connect: #55708e;
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--ground); color: var(--text); }
        button, input, select {
          font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
          border-radius: 6px; padding: 3px 8px; min-height: 30px;
        }
        button { cursor: pointer; }
        :focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
        header { background: var(--panel); border-bottom: 1px solid var(--line); padding: 10px 14px 8px; }
        h1 { font-size: 15px; margin: 0; display: inline; }
        #summary { color: var(--dim); margin-left: 8px; }
        #state { float: right; color: var(--dim); }
        #filters { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
        #text { flex: 1 1 220px; min-width: 0; }
        #filters select { flex: 0 1 auto; min-width: 0; max-width: 220px; }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-top: 7px; color: var(--dim); font-size: 12px; }
        #legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; }
        #legend i { width: 16px; height: 9px; border-radius: 2px; }
        main { flex: 1; display: flex; min-height: 0; }
        #left { flex: 1 1 0; min-width: 0; display: flex; flex-direction: column; container-type: inline-size; }
        #overview { display: block; width: 100%; height: 34px; border-bottom: 1px solid var(--line); cursor: pointer; }
        #list { flex: 1; overflow-y: auto; overflow-x: hidden; position: relative; scrollbar-gutter: stable; }
        #space { position: relative; }
        .columns { border-bottom: 1px solid var(--line); color: var(--dim); font-size: 12px; overflow: hidden;
          scrollbar-gutter: stable; }
        .row, .head {
          display: grid; align-items: center; gap: 0 8px; padding: 0 10px; height: var(--row); width: 100%;
          grid-template-columns: 72px 52px minmax(120px, 3fr) minmax(76px, auto) 64px 66px minmax(120px, 4fr);
          grid-template-areas: "status method name tags size time bar";
        }
        .head { height: 24px; }
        .row { position: absolute; left: 0; top: 0; cursor: default; border-bottom: 1px solid transparent; }
        .row:hover { background: var(--panel); }
        .row.picked { background: var(--pick); }
        .row.pinned { box-shadow: inset 3px 0 var(--refresh); }
        .row.group { display: block; font-weight: 600; line-height: var(--row); background: var(--panel);
          border-top: 1px solid var(--line); border-bottom-color: var(--line); overflow: hidden;
          text-overflow: ellipsis; white-space: nowrap; }
        .row.group.picked { background: var(--pick); }
        .row > *, .head > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
        .status { grid-area: status; font-variant-numeric: tabular-nums; }
        .method { grid-area: method; color: var(--dim); font-size: 12px; }
        .name { grid-area: name; }
        .name b { font-weight: 500; }
        .name em { font-style: normal; color: var(--dim); margin-left: 7px; font-size: 12px; }
        .sign { display: none; font-style: normal; margin-right: 5px; }
        .tags { grid-area: tags; display: flex; gap: 4px; width: 116px; }
        .size { grid-area: size; text-align: right; color: var(--dim); font-variant-numeric: tabular-nums; }
        .time { grid-area: time; text-align: right; font-variant-numeric: tabular-nums; }
        .bar { grid-area: bar; position: relative; height: 100%; }
        .bad { color: var(--failed); font-weight: 600; }
        .tag { font-size: 11px; line-height: 16px; padding: 0 5px; border-radius: 8px; border: 1px solid currentColor;
          flex: none; }
        .cache { color: var(--cache); } .stub { color: var(--stub); } .shared { color: var(--shared); }
        .plugin, .none { color: var(--plugin); } .retry { color: var(--retry); } .refresh { color: var(--refresh); }
        .open { color: var(--network); }
        .segment { position: absolute; top: 50%; height: 12px; margin-top: -6px; min-width: 2px; border-radius: 1px; }
        .segment.first { border-radius: 3px 1px 1px 3px; }
        .p-retrying { height: 2px; margin-top: -1px; min-width: 0;
          background: repeating-linear-gradient(90deg, var(--retry) 0 4px, transparent 4px 8px); }
        .p-blocked { background: repeating-linear-gradient(135deg, var(--wait) 0 3px, transparent 3px 6px);
          border: 1px solid var(--wait); min-width: 0; }
        .p-connect { background: var(--connect); height: 6px; margin-top: -3px; min-width: 0; }
        .p-wait { background: var(--kind, var(--network)); }
        .p-receive { background: var(--kind, var(--network)); opacity: 0.55; min-width: 0; }
        .k-cache { --kind: var(--cache); } .k-stub { --kind: var(--stub); } .k-retry { --kind: var(--retry); }
        .k-refresh { --kind: var(--refresh); } .k-failed { --kind: var(--failed); }
        .k-plugin, .k-none { --kind: var(--plugin); }
        .k-shared .p-wait { background: repeating-linear-gradient(90deg, var(--shared) 0 5px, transparent 5px 7px); }
        .tick { position: absolute; top: 0; bottom: 0; border-left: 1px solid var(--line); padding-left: 4px; }
        #empty { padding: 40px 20px; text-align: center; color: var(--dim); }
        #details { flex: 0 0 44%; max-width: 44%; min-width: 0; display: flex; flex-direction: column;
          border-left: 1px solid var(--line); background: var(--ground); }
        #details.two { flex-basis: 66%; max-width: 66%; }
        #tools { display: flex; gap: 6px; align-items: center; padding: 6px 10px; background: var(--panel);
          border-bottom: 1px solid var(--line); }
        #tools strong { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        #content { flex: 1; overflow: auto; padding: 4px 14px 24px; }
        h2 { font-size: 12px; text-transform: uppercase; letter-spacing: 0.05em; color: var(--dim);
          margin: 16px 0 4px; border-bottom: 1px solid var(--line); padding-bottom: 3px; }
        .pairs { display: grid; grid-template-columns: minmax(90px, 150px) minmax(0, 1fr); gap: 0 10px; }
        .two .pairs { grid-template-columns: minmax(80px, 130px) minmax(0, 1fr) minmax(0, 1fr); }
        .pairs > * { padding: 2px 4px; overflow-wrap: anywhere; white-space: pre-wrap; }
        .pairs > .key { color: var(--dim); padding-left: 0; }
        .pairs > .differs { background: var(--mark); }
        .bodies { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; }
        .two .bodies { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
        pre { font: 12px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; margin: 4px 0; padding: 8px;
          background: var(--panel); border-radius: 6px; overflow: auto; max-height: 60vh; white-space: pre-wrap;
          overflow-wrap: anywhere; }
        pre .differs { background: var(--mark); display: inline-block; min-width: 100%; }
        img { max-width: 100%; max-height: 300px; border-radius: 6px; border: 1px solid var(--line); }
        .note { color: var(--dim); font-size: 12px; }
        kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; font: inherit; font-size: 11px; }
        @container (max-width: 760px) {
          .row, .head { grid-template-columns: 66px minmax(90px, 1fr) 62px minmax(90px, 1fr);
            grid-template-areas: "status name time bar"; }
          .method, .tags, .size { display: none; }
          .sign:not(:empty) { display: inline; }
        }
        @media (max-width: 700px) {
          :root { --row: 54px; }
          header { padding: 8px 10px; }
          button, input, select { min-height: 38px; font-size: 16px; }
          #filters select { flex: 1 1 30%; }
          #overview { height: 26px; }
          .columns .head > :not(.bar) { display: none; }
          .row { grid-template-columns: 62px minmax(0, 1fr) auto 58px; grid-template-rows: 28px 18px;
            grid-template-areas: "status name tags time" "bar bar bar bar"; align-content: center; }
          .head { display: block; padding: 0; }
          .head .bar { display: block; }
          .sign:not(:empty) { display: none; }
          .tags { display: flex; width: auto; }
          .tags .tag + .tag { display: none; }
          .row.group { line-height: 52px; }
          #details, #details.two { position: fixed; inset: 0; max-width: none; border: 0; z-index: 2; }
          #legend .keys { display: none; }
          .two .pairs { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
          .two .pairs > .key { grid-column: 1 / -1; padding-top: 6px; }
        }
        @media (forced-colors: active) { .segment { forced-color-adjust: none; } }
        """#
}
