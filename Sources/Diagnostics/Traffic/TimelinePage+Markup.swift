// SPDX-License-Identifier: MIT

extension TimelinePage {
    /// The elements that the script populates.
    static let markup = #"""
        <header>
        <span id="state" role="status"></span><h1 id="title"></h1><span id="summary" aria-live="polite"></span>
        <div id="filters" role="search">
        <input id="text" type="search" placeholder="Filter by URL, target, method or failure"
          aria-label="Filter by text" autocomplete="off" spellcheck="false">
        <select id="status" aria-label="Filter by status"></select>
        <select id="host" aria-label="Filter by host"></select>
        <select id="source" aria-label="Filter by source"></select>
        </div>
        <div id="legend"></div>
        </header>
        <main>
        <section id="left" aria-label="Calls">
        <canvas id="overview" aria-hidden="true"></canvas>
        <div class="columns"><div class="head" aria-hidden="true"><span class="status">Status</span>
        <span class="method">Method</span><span class="name">Request</span><span class="tags">Marks</span>
        <span class="size">Size</span><span class="time">Time</span><span class="bar" id="axis"></span></div></div>
        <div id="list" role="listbox" tabindex="0" aria-label="Calls"><div id="space"></div>
        <div id="empty" hidden></div></div>
        </section>
        <section id="details" aria-label="Details" hidden>
        <div id="tools"><strong id="subject"></strong><button id="pin" type="button"></button>
        <button id="close" type="button" aria-label="Close">Close</button></div>
        <div id="content" tabindex="0"></div>
        </section>
        </main>
        """#
}
