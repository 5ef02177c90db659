"use strict";
const report = JSON.parse(document.getElementById("report").textContent);
const at = (id) => document.getElementById(id);

// Numbers and tokens as text.
const grouped = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 0 });
const fixed = (number, digits) => number === null ? "none" : number.toLocaleString("en-US",
  { minimumFractionDigits: digits, maximumFractionDigits: digits });
const short = (number) => number === null ? "none" : number >= 100 ? grouped(number) : fixed(number, number >= 10 ? 1 : 2);
const percent = (share) => `${fixed(100 * share, 1)} %`;
const counted = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const duration = (seconds) => seconds < 120 ? `${fixed(seconds, 1)}\u00a0s`
  : seconds < 7200 ? `${fixed(seconds / 60, 1)}\u00a0min` : `${fixed(seconds / 3600, 1)}\u00a0h`;

/** A token's text: its spaces are seen, and what has no sign of its own is written as a number. */
function tokenText(token) {
  if (token.bytes === undefined) return `row ${grouped(token.id)}`;
  const bytes = Uint8Array.from(token.bytes.match(/../g), (pair) => parseInt(pair, 16));
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  }
  return text.replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/[\p{C}\p{Z}]/gu,
    (c) => c === " " ? "␣" : `\\u{${c.codePointAt(0).toString(16)}}`);
}
const tokenHtml = (token) =>
  `<span class="token">${escaped(tokenText(token)).replace(/␣/g, "<i>␣</i>")}</span>`;

/** rows of cells; a cell is text, or a number that is already text and stands to the right. */
function tableHtml({ caption, head, rows, numbers = [] }) {
  const cell = (tag) => (html, column) => `<${tag}${numbers.includes(column) ? ' class="number"' : ""}>${html}</${tag}>`;
  const body = rows.map((row) => `<tr>${row.map((html, column) =>
    column === 0 ? `<th scope="row">${html}</th>` : cell("td")(html, column)).join("")}</tr>`).join("");
  const columns = head ? `<thead><tr>${head.map((html, column) =>
    cell("th")(html, column).replace("<th", '<th scope="col"')).join("")}</tr></thead>` : "";
  return `<table>${caption ? `<caption>${caption}</caption>` : ""}${columns}<tbody>${body}</tbody></table>`;
}

/** Round numbers in [low, high]. */
function ticks(low, high, count) {
  if (low === high) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) found.push(k * step + 0);  // no -0
  return found;
}

/** A tick in as many digits as tell it from its neighbours. */
const tickText = (tick, _, all) =>
  fixed(tick, all.length < 2 ? 0 : Math.max(0, Math.ceil(-Math.log10(Math.abs(all[1] - all[0])) - 1e-9)));

/**
 * A chart that is drawn anew for the width it gets, and read with a pointer or the arrow keys.
 * draw(width, height) gives {svg, x(index), marks(index)}; read(index) the words for one place of `count`.
 */
function chart(place, { label, legend, height, count, draw, read, rest }) {
  place.insertAdjacentHTML("beforeend", `<figure><ul class="legend">${legend}</ul>
    <svg role="img" tabindex="0" aria-label="${escaped(label)}"></svg>
    <output class="read-out">${rest}</output></figure>`);
  const figure = place.lastElementChild;
  const svg = figure.querySelector("figure > svg");
  const output = figure.querySelector("output");
  let drawn;
  let index = null;
  const show = () => {
    const marks = index === null ? "" : drawn.marks(index);
    svg.querySelector(".marks").innerHTML = marks;
    output.innerHTML = index === null ? rest : read(index);
  };
  const redraw = () => {
    const width = Math.max(280, Math.round(figure.clientWidth));
    if (drawn && width === drawn.width) return;
    drawn = { width, ...draw(width, height) };
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.innerHTML = `${drawn.svg}<g class="marks"></g>`;
    show();
  };
  const choose = (next) => {
    index = next === null ? null : Math.min(Math.max(next, 0), count - 1);
    show();
  };
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    choose(drawn.index((event.clientX - box.left) * drawn.width / box.width));
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", () => choose(null));
  svg.addEventListener("blur", () => choose(null));
  svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) choose(0); });
  svg.addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.round(count / 20));
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -far, PageUp: far,
      Home: -count, End: count };
    if (event.key === "Escape") return choose(null);
    if (moves[event.key] === undefined) return;
    event.preventDefault();
    choose((index ?? 0) + moves[event.key]);
  });
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(figure);
  redraw();
}

const swatch = (html, words) => `<li><svg viewBox="0 0 26 12" aria-hidden="true">${html}</svg>${words}</li>`;
const line = (x1, y1, x2, y2, kind) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="${kind}"/>`;
const label = (x, y, anchor, words) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
const circle = (x, y, r, kind) => `<circle cx="${x}" cy="${y}" r="${r}" class="${kind}"/>`;
const path = (points, kind) =>
  `<path d="M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}" class="${kind}"/>`;

// The loss curve.
function showLoss() {
  const { training, held_out: heldOut, first_step: first, guessing } = report.loss;
  const place = at("loss");
  if (training.length === 0) {
    place.innerHTML = "<p>No step was taken.</p>";
    return;
  }
  const last = first + training.length - 1;
  const heldOutAt = new Map(heldOut.map((one) => [one.step, one]));
  const seen = [...training, ...heldOut.map((one) => one.loss)].filter((loss) => loss !== null);
  const high = seen.reduce((a, b) => Math.max(a, b), guessing);
  const low = seen.reduce((a, b) => Math.min(a, b), high);
  const reach = Math.max(1, Math.round(training.length / 40));  // of the mean, to both sides
  const sums = [0];
  for (const loss of training) sums.push(sums.at(-1) + (loss ?? 0));
  const meanAt = (i) => {
    const begin = Math.max(0, i - reach);
    const end = Math.min(training.length, i + reach + 1);
    return (sums[end] - sums[begin]) / (end - begin);
  };
  const draw = (width, height) => {
    const [left, right, top, bottom] = [52, width - 14, 26, height - 38];
    const floor = low - 0.06 * (high - low || 1);
    const ceiling = high + 0.06 * (high - low || 1);
    const x = (step) => last === first ? (left + right) / 2 : left + (right - left) * (step - first) / (last - first);
    const y = (loss) => bottom - (bottom - top) * (loss - floor) / (ceiling - floor);
    let svg = "";
    ticks(floor, ceiling, 6).forEach((tick, i, all) => {
      svg += line(left, y(tick), right, y(tick), "grid") + label(left - 8, y(tick) + 4, "end", tickText(tick, i, all));
    });
    for (const tick of ticks(first, last, width < 500 ? 4 : 8).filter((step) => step % 1 === 0)) {
      svg += label(x(tick), bottom + 18, "middle", grouped(tick));
    }
    svg += label(right, height - 4, "end", "step") + label(0, 10, "start", "nats");
    svg += line(left, y(guessing), right, y(guessing), "guess");
    const each = Math.max(1, Math.floor(training.length / (right - left)));
    const raw = [];
    const smooth = [];
    for (let i = 0; i < training.length; i += each) {
      if (training[i] !== null) raw.push([x(first + i), y(training[i])]);
      smooth.push([x(first + i), y(meanAt(i))]);
    }
    svg += path(raw, "stroke-after faint") + path(smooth, "stroke-after bold");
    if (smooth.length === 1) svg += circle(...smooth[0], 4, "fill-after");
    if (heldOut.length > 0) {
      svg += path(heldOut.map((one) => [x(one.step), y(one.loss)]), "stroke-before bold");
      svg += heldOut.map((one) => circle(x(one.step), y(one.loss), 4, "stroke-before dot")).join("");
    }
    return {
      svg,
      index: (px) => Math.round((px - left) / (right - left) * (last - first)),
      marks: (i) => line(x(first + i), top, x(first + i), bottom, "cursor") +
        (training[i] === null ? "" : circle(x(first + i), y(training[i]), 4, "fill-after")),
    };
  };
  const read = (i) => {
    const one = heldOutAt.get(first + i);
    return `step <b>${grouped(first + i)}</b>, training loss <b>${fixed(training[i], 4)}</b>` +
      (one ? `, held out <b>${fixed(one.loss, 4)}</b>, perplexity <b>${short(one.perplexity)}</b>` : "");
  };
  chart(place, {
    label: `Training loss from step ${first} to ${last}: ${fixed(training[0], 2)} to ${fixed(training.at(-1), 2)}. ` +
      "The arrow keys read it step by step.",
    legend: swatch(line(1, 6, 25, 6, "stroke-after bold"), "training, and its running mean") +
      (heldOut.length > 0
        ? swatch(line(1, 6, 25, 6, "stroke-before bold") + circle(13, 6, 4, "stroke-before dot"), "held out") : "") +
      swatch(line(1, 6, 25, 6, "guess"), `guessing: ln ${grouped(report.run.network.vocabulary)} = ${fixed(guessing, 2)}`),
    height: 330,
    count: training.length,
    draw,
    read,
    rest: "Point at a step, or focus the chart and use the arrow keys.",
  });
  const shown = new Set([first, last, ...ticks(first, last, 10).filter((step) => step % 1 === 0),
    ...heldOut.map((one) => one.step)]);
  place.insertAdjacentHTML("beforeend", `<details><summary>The numbers</summary>${tableHtml({
    head: ["step", "training loss", "held-out loss", "perplexity"],
    numbers: [1, 2, 3],
    rows: [...shown].filter((step) => step >= first && step <= last).sort((a, b) => a - b).map((step) => {
      const one = heldOutAt.get(step);
      return [grouped(step), fixed(training[step - first], 4), one ? fixed(one.loss, 4) : "", one ? short(one.perplexity) : ""];
    }),
  })}</details>`);
}

function showNeighbors() {
  const { among, tokens } = report.neighbors;
  at("neighbors-note").textContent = tokens.length === 0
    ? "The text has no frequent words to show; --report-token chooses tokens."
    : "The rows most like each token's own, by cosine, before the first step and after the last: first an accident of the " +
      `random start, then what the text taught. Only the ${grouped(among)} rows that the training text has are looked at.`;
  const list = (neighbors) => `<ol>${neighbors.map((one) => `<li class="bar" style="--share:
    ${Math.max(0, 100 * one.score).toFixed(1)}%">${tokenHtml(one)}<small>${fixed(one.score, 2)}</small></li>`).join("")}</ol>`;
  at("neighbors").innerHTML = tokens.map((token) => `<article class="card">
    <h3>${tokenHtml(token)}<small>${counted(token.met, "time")} in the text</small></h3>
    <div class="columns"><div class="before"><h4>before</h4>${list(token.before)}</div>
    <div class="after"><h4>after</h4>${list(token.after)}</div></div></article>`).join("");
}

function showVariants() {
  const { families, tokens, pairs, chance, before, after } = report.variants;
  const place = at("variants");
  if (pairs === 0) {
    place.innerHTML = "<p>The text has no word in two spellings.</p>";
    return;
  }
  const rows = [["median rank", before.median, after.median], ["mean rank", before.mean, after.mean]];
  const rowCount = report.run.network.vocabulary;
  const draw = (width, height) => {
    const [left, right] = [14, width - 14];
    const x = (rank) => left + (right - left) * Math.log(rank) / Math.log(rowCount);
    let svg = "";
    for (let tick = 1; tick <= rowCount; tick *= 10) {
      svg += line(x(tick), 8, x(tick), height - 36, "grid") + label(x(tick), height - 20, "middle", grouped(tick));
    }
    svg += line(x(chance), 8, x(chance), height - 36, "guess") + label(right, height - 4, "end", "rank, the nearest of all is 1");
    rows.forEach(([name, first, last], row) => {
      const y = 44 + 44 * row;
      svg += label(left, y - 14, "start", name) + line(x(first), y, x(last), y, "guess") +
        circle(x(first), y, 5, "stroke-before dot") + circle(x(last), y, 6, "fill-after");
    });
    return { svg, index: (px) => (px > (left + right) / 2 ? 1 : 0), marks: () => "" };
  };
  const words = ([name, first, last]) => `${name}: <b>${short(first)}</b> before, <b>${short(last)}</b> after`;
  const both = `${rows.map(words).join("; ")}; by chance <b>${grouped(chance)}</b>.`;
  chart(place, {
    label: both.replace(/<\/?b>/g, ""),
    legend: swatch(circle(13, 6, 4, "stroke-before dot bold"), "before") + swatch(circle(13, 6, 5, "fill-after"), "after") +
      swatch(line(1, 6, 25, 6, "guess"), "by chance"),
    height: 144,
    count: 2,
    draw,
    read: (row) => `${words(rows[row])}; by chance <b>${grouped(chance)}</b>.`,
    rest: both,
  });
  place.insertAdjacentHTML("beforeend", `<p class="note">${counted(families, "family", "families")} of ` +
    `${counted(tokens, "token")} that the training text has, the most frequent first; ${counted(pairs, "pair")}, each ` +
    `token ranking the others of its family among all ${grouped(rowCount - 1)} other rows.</p>`);
}

function showTests() {
  const { similarity, analogies } = report.word_tests;
  const rho = (value) => value === null ? "too few words" : fixed(value, 3);
  const right = (count, asked) => asked === 0 ? "not asked" : `${grouped(count)} right, ${percent(count / asked)}`;
  const coverage = (asked, all) => `${grouped(asked)} of ${grouped(all)}`;
  const asked = analogies.sections.filter((section) => section.asked > 0);
  at("tests").innerHTML = tableHtml({
    head: ["test", "coverage", "before", "after"],
    numbers: [1, 2, 3],
    rows: [["WordSim-353, Spearman’s rho", coverage(similarity.asked, similarity.pairs), rho(similarity.before), rho(similarity.after)],
      ["Analogies, 3CosAdd", coverage(analogies.asked, analogies.questions), right(analogies.before, analogies.asked),
        right(analogies.after, analogies.asked)]],
  }) + (asked.length === 0 ? "" : `<details><summary>Analogies by section</summary>${tableHtml({
    head: ["section", "asked", "right before", "right after"],
    numbers: [1, 2, 3],
    rows: asked.map((one) => [escaped(one.name), coverage(one.asked, one.questions), grouped(one.before), grouped(one.after)]),
  })}</details>`);
}

function showLedger() {
  const { rows, met, not_met: notMet, reason, histogram, furthest } = report.moved_rows;
  at("ledger-note").textContent = `The training text has ${grouped(met.rows)} of the table’s ${grouped(rows)} tokens. ${reason}`;
  const place = at("ledger");
  place.innerHTML = tableHtml({
    head: ["rows", "number", "changed", "median distance"],
    numbers: [1, 2, 3],
    rows: [["in the text", met], ["not in it", notMet]].map(([name, group]) =>
      [name, grouped(group.rows), grouped(group.changed), fixed(group.median_distance, 4)]),
  });
  if (histogram.width > 0) {
    const share = (counts) => {
      const all = counts.reduce((a, b) => a + b, 0);
      return counts.map((count) => all === 0 ? 0 : count / all);
    };
    const [inText, others] = [share(histogram.met), share(histogram.not_met)];
    const most = Math.max(...inText, ...others);
    const bins = inText.length;
    const draw = (width, height) => {
      const [left, right, top, bottom] = [44, width - 14, 14, height - 38];
      const x = (bin) => left + (right - left) * bin / bins;
      const y = (part) => bottom - (bottom - top) * part / most;
      let svg = "";
      for (const tick of ticks(0, most, 4)) {
        svg += line(left, y(tick), right, y(tick), "grid") + label(left - 8, y(tick) + 4, "end", `${fixed(100 * tick, most < 0.04 ? 1 : 0)} %`);
      }
      ticks(0, bins * histogram.width, width < 500 ? 4 : 8).forEach((tick, i, all) => {
        svg += label(x(tick / histogram.width), bottom + 18, "middle", tickText(tick, i, all));
      });
      svg += label(right, height - 4, "end", "distance from the start");
      inText.forEach((part, bin) => {
        svg += `<rect x="${x(bin) + 0.5}" y="${y(part)}" width="${x(1) - x(0) - 1}" height="${bottom - y(part)}" class="fill-after"/>`;
      });
      const outline = others.flatMap((part, bin) => [[x(bin), y(part)], [x(bin + 1), y(part)]]);
      svg += path([[x(0), bottom], ...outline, [x(bins), bottom]], "stroke-before bold");
      return {
        svg,
        index: (px) => Math.floor((px - left) / (right - left) * bins),
        marks: (bin) => line(x(bin + 0.5), top, x(bin + 0.5), bottom, "cursor"),
      };
    };
    chart(place, {
      label: `How far rows moved. Median ${fixed(met.median_distance, 3)} for rows in the text, ` +
        `${fixed(notMet.median_distance, 3)} for the others. The arrow keys read it bar by bar.`,
      legend: swatch('<rect x="5" y="1" width="16" height="10" class="fill-after"/>', "rows in the text") +
        swatch('<rect x="5" y="1" width="16" height="10" class="stroke-before bold"/>', "rows not in it"),
      height: 260,
      count: bins,
      draw,
      read: (bin) => `${fixed(bin * histogram.width, 3)} to ${fixed((bin + 1) * histogram.width, 3)}: ` +
        `<b>${grouped(histogram.met[bin])}</b> rows in the text, ${percent(inText[bin])} of them; ` +
        `<b>${grouped(histogram.not_met[bin])}</b> not in it, ${percent(others[bin])}`,
      rest: "Each kind as a share of its own. Point at a bar, or focus the chart and use the arrow keys.",
    });
  }
  const longest = furthest.length > 0 ? furthest[0].distance : 0;
  place.insertAdjacentHTML("beforeend", `<p class="note">Those of the text that moved furthest, how often the text has them, and
    how far:</p><ol class="furthest after">${furthest.map((row) => `<li class="bar" style="--share:
    ${(longest > 0 ? 100 * row.distance / longest : 0).toFixed(1)}%">${tokenHtml(row)}<small>${grouped(row.met)} ×,
    ${fixed(row.distance, 3)}</small></li>`).join("")}</ol>`);
}

function showRun() {
  const { version, text, network, flags } = report.run;
  const rows = (names) => names.map(([name, value]) => [name, escaped(value)]);
  at("run").innerHTML = tableHtml({ caption: "Text", rows: rows([["source", text.source], ["vocabulary", text.vocabulary],
    ["tokens", grouped(text.ids)], ["trained on", grouped(text.training_ids)], ["held out", grouped(text.held_out_ids)],
    ["firstlayer", version]]) }) +
    tableHtml({ caption: "Network", rows: rows([["layers", network.layers], ["heads", network.heads], ["d", network.dim],
      ["context", grouped(network.context)], ["vocabulary", grouped(network.vocabulary)], ["position", network.position],
      ["head", network.tied ? "the token table" : "its own"], ["numbers", grouped(network.parameters)]]) }) +
    tableHtml({ caption: "Flags", rows: rows(Object.entries(flags)) });
}

function showFigures() {
  const { run, time, loss, moved_rows: ledger } = report;
  const { network, text } = run;
  const planned = Number(run.flags["--steps"]);
  at("lead").textContent = `A GPT-2 of ${counted(network.layers, "layer")}, d = ${network.dim}, after ` +
    `${run.steps < planned ? `${grouped(run.steps)} of ${counted(planned, "step")}` : counted(run.steps, "step")} on ` +
    `${counted(text.training_ids, "token")} of ${text.source === "-" ? "standard input" : text.source === "--text"
      ? "a text" : text.source.split("/").at(-1)}.`;
  const figures = [];
  const heldOut = loss.held_out.at(-1);
  if (heldOut) {
    figures.push(["held-out perplexity", short(heldOut.perplexity), `${grouped(network.vocabulary)} when guessing`]);
  }
  if (loss.training.length > 0) {
    figures.push(["training loss", fixed(loss.training.at(-1), 2), `${fixed(loss.training[0], 2)} at step ${grouped(loss.first_step)}`]);
  }
  figures.push(["rows in the text", grouped(ledger.met.rows), `of ${grouped(ledger.rows)}`]);
  figures.push(["time", duration(time.seconds), `for ${counted(time.steps, "step")}`]);
  at("figures").innerHTML = figures.map(([name, value, more]) =>
    `<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`).join("");
}

showFigures();
showLoss();
showNeighbors();
showVariants();
showTests();
showLedger();
showRun();
