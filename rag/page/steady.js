// Nothing jumps: Gradio replaces the case's HTML whole each time the answer grows. What was last touched, or else what stands
// highest on the screen, stays where it was; so do the focus and what is typed in the case's own fields.
(() => {
  const tl = window.tablelaw;
  const box = () => document.getElementById("tl-case");
  const ANCHORS = ".tl-turn > .tl-question, .tl-turn h2, .tl-sentence, .tl-card, .tl-chip, .tl-ask, .tl-path, .tl-readout, .tl-empty > *, .tl-place";
  const JUST_TOUCHED = 60_000; // ms
  const JUST_SENT = 20_000;

  // What names an element in the HTML before and after: its turn, what it is and says, and which of those alike it is.
  const sign = (el) => {
    const own = el.dataset.key ?? el.dataset.set ?? el.dataset.keep ?? el.dataset.start ?? el.dataset.verdict ?? el.getAttribute("href");
    if (own) return `${el.tagName} ${own}`;
    if (el.tagName === "SUMMARY") return `SUMMARY ${el.parentElement.dataset.key}`;
    return `${el.tagName} ${el.className} ${el.textContent.trim().slice(0, 80)}`;
  };
  const alike = (root, tag, signed) => [...root.getElementsByTagName(tag)].filter((el) => sign(el) === signed);
  tl.keyOf = (el) => {
    if (!el || !box()?.contains(el)) return el ?? null;
    const turn = el.closest("[data-turn].tl-turn")?.dataset.turn ?? null;
    const root = turn ? el.closest(".tl-turn") : box();
    return { turn, tag: el.tagName, signed: sign(el), nth: alike(root, el.tagName, sign(el)).indexOf(el) };
  };
  tl.found = (key) => {
    if (!key || key instanceof Element) return key?.isConnected ? key : null;
    const root = key.turn ? box()?.querySelector(`.tl-turn[data-turn="${CSS.escape(key.turn)}"]`) : box();
    return root ? alike(root, key.tag, key.signed)[key.nth] ?? null : null;
  };

  let anchors = []; // {key, top}, the best first
  let touched = null; // {el's key, when}
  let focused = null;
  let shownCase = null;
  let lastTurn = 0;
  let sentAt = 0;
  const typed = new Map(); // data-keep -> what is typed and not yet sent

  const isOnScreen = (rect) => rect.height > 0 && rect.bottom > 0 && rect.top < innerHeight;
  const remember = () => {
    const root = box();
    if (!root) return;
    const on = [];
    const mine = touched && Date.now() - touched.when < JUST_TOUCHED ? tl.found(touched.key) : null;
    for (const el of [...(mine ? [mine] : []), ...root.querySelectorAll(ANCHORS)]) {
      const rect = el.getBoundingClientRect();
      if (isOnScreen(rect)) on.push({ el, top: rect.top, first: el === mine });
      if (on.length > 12) break;
    }
    on.sort((one, other) => other.first - one.first || (one.top < 0) - (other.top < 0) || one.top - other.top);
    anchors = on.map(({ el, top }) => ({ key: tl.keyOf(el), top }));
  };

  const keepFields = () => {
    for (const field of box().querySelectorAll("[data-keep]")) {
      const kept = typed.get(field.dataset.keep);
      if (kept !== undefined && field.value !== kept.value) field.value = kept.value;
    }
  };
  tl.typedSent = (field) => typed.delete(field.dataset.keep);

  const keepFocus = () => {
    if (!focused || document.activeElement !== document.body) return;
    const again = tl.found(focused.key);
    if (again) {
      again.focus({ preventScroll: true });
      const kept = typed.get(again.dataset.keep);
      if (kept && again.setSelectionRange) again.setSelectionRange(kept.start, kept.end);
      return;
    }
    const turn = box().querySelector(`.tl-turn[data-turn="${CSS.escape(focused.key.turn ?? "")}"]`);
    if (turn) { // the button has gone with its question: who reads by ear goes on at the answer
      turn.tabIndex = -1;
      turn.focus({ preventScroll: true });
      focused = null;
    }
  };

  const keepPlace = () => {
    const root = box();
    const turns = [...root.querySelectorAll(".tl-turn")];
    const newest = Math.max(0, ...turns.map((turn) => Number(turn.dataset.turn)));
    const caseId = root.querySelector(".tl-place")?.dataset.case ?? null;
    const isNew = newest > lastTurn && lastTurn >= 0 && Date.now() - sentAt < JUST_SENT;
    if (isNew) {
      sentAt = 0;
      turns.at(-1).scrollIntoView({ block: "start" });
      touched = null;
    } else if (caseId === shownCase && (turns.length || touched)) { // an empty page that loads begins at its top
      const anchor = anchors.find(({ key }) => tl.found(key));
      const by = anchor ? tl.found(anchor.key).getBoundingClientRect().top - anchor.top : 0;
      if (Math.abs(by) >= 1) window.scrollBy({ top: by, behavior: "instant" });
    }
    shownCase = caseId;
    lastTurn = newest;
  };
  tl.sent = () => { sentAt = Date.now(); };

  // The observer runs after the HTML was replaced and before it is drawn.
  new MutationObserver((changes) => {
    const root = box();
    if (!root || !changes.some(({ target }) => root.contains(target))) return;
    keepFields();
    keepPlace();
    keepFocus();
    remember();
    document.dispatchEvent(new CustomEvent("tl-case-changed"));
  }).observe(document.documentElement, { childList: true, subtree: true });

  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; remember(); });
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  document.addEventListener("toggle", soon, true);
  new ResizeObserver(soon).observe(document.documentElement);
  document.addEventListener("pointerdown", (event) => {
    const el = event.target.closest?.(`#tl-case :is(summary, button, a, input, textarea, ${ANCHORS})`);
    touched = el ? { key: tl.keyOf(el), when: Date.now() } : null;
    remember();
  }, true);
  document.addEventListener("focusin", (event) => {
    focused = box()?.contains(event.target) ? { key: tl.keyOf(event.target) } : null;
  });
  document.addEventListener("input", (event) => {
    const field = event.target.closest?.("#tl-case [data-keep]");
    if (field) typed.set(field.dataset.keep, { value: field.value, start: field.selectionStart, end: field.selectionEnd });
  });
})();
