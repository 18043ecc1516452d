"use strict";
/* Makes the page out of its blocks. */
(async () => {
  const [report, about, timeline] = await Promise.all(["report", "about", "timeline"].map(ids.block));
  ids.report = report;
  ids.about = about;
  ids.addColours(about.accounts);
  const { h } = ids;
  const main = h("main", {}, h("h1", {}, report.run.name || "run"));
  document.body.append(main);
  if (timeline && window.idsTimeline) {
    const element = h("div", { class: "timeline" });
    main.append(h("section", { id: "timeline-section" }, h("h2", {}, "Timeline"), element));
    ids.timeline = window.idsTimeline(element, timeline);
  }
})();
