// A page that slept, reloaded or lost the network finds its case again, and what was typed is not lost.
(() => {
  const tl = window.tablelaw;
  const DRAFT = "tl-draft";
  const RETRY = 3_000; // ms between looks while the connection is lost
  const LOOK = 10_000; // and while all is well
  const PATIENCE = 4_000; // for an answer of the server, and for the page to follow
  const box = () => document.querySelector("#tl-question textarea");

  // The bar that says so
  let lost = false;
  const barNow = () => {
    let bar = document.getElementById("tl-lost");
    if (!bar) {
      bar = document.createElement("div");
      bar.id = "tl-lost";
      bar.setAttribute("role", "alert");
      bar.hidden = true;
      document.body.append(bar);
    }
    return bar;
  };
  const say = (text) => {
    const bar = barNow();
    bar.textContent = text;
    bar.hidden = !text;
  };
  tl.tell = (text) => { say(text); if (!lost) setTimeout(() => { if (!lost) say(""); }, 8_000); };
  let sending = null; // the question that was sent last, until the box is empty
  const setLost = (is) => {
    if (is === lost) return;
    lost = is;
    const isUnsent = is && sending && box()?.value === sending;
    say(isUnsent ? tl.words().notSent : is ? tl.words().offline : "");
    sending = null;
  };

  // Is the server there, and is what is shown what it has?
  const ask = async () => {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), PATIENCE);
    try {
      const answer = await fetch("/cases/now", { signal: end.signal });
      return answer.ok ? await answer.json() : {};
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  };
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const isCurrent = (now) => !now.version || now.version === tl.words().version;

  let probing = null;
  let stale = null; // the version shown when a look found it old
  const look = async (isBack) => {
    const now = await ask();
    const wasLost = lost;
    setLost(now === null);
    if (now === null) return;
    const returns = isBack || wasLost;
    const isBusy = Boolean(document.querySelector('.tl-turn[aria-busy="true"]'));
    const shown = tl.words().version;
    if (isCurrent(now) || !(returns || isBusy)) { stale = null; return; }
    if (!returns && stale !== shown) { stale = shown; return; } // it may just be on its way
    stale = null;
    tl.refresh();
    await pause(PATIENCE);
    const later = await ask();
    if (later && !isCurrent(later) && tl.words().version === shown) reload(); // Gradio's own connection is gone for good
  };
  tl.probe = (isBack = false) => {
    if (probing && !isBack) return probing;
    const after = (probing ?? Promise.resolve()).then(() => look(isBack));
    probing = after;
    return after.finally(() => { if (probing === after) probing = null; });
  };

  // What is typed
  const keepDraft = () => {
    try {
      const text = box()?.value ?? "";
      if (text) sessionStorage.setItem(DRAFT, text);
      else sessionStorage.removeItem(DRAFT);
    } catch { /* no storage: the browser forbids it */ }
  };
  const reload = () => {
    keepDraft();
    location.reload();
  };
  let restored = false;
  const restoreDraft = () => {
    if (restored || !box() || !tl.words().version || !document.querySelector("#tl-refresh")) return;
    restored = true;
    let text = null;
    try { text = sessionStorage.getItem(DRAFT); } catch { /* as above */ }
    const asked = [...document.querySelectorAll(".tl-turn > .tl-question")].at(-1)?.textContent;
    if (text && !box().value && text.trim() !== asked?.trim()) {
      box().value = text;
      box().dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  document.addEventListener("input", (event) => { if (event.target === box()) keepDraft(); });
  addEventListener("pagehide", keepDraft);
  document.addEventListener("tl-case-changed", restoreDraft);

  // A question is not sent into nothing: it stays in the box, and that is told. What the browser thinks of being online does
  // not count: a laptop without any network still serves itself.
  const stopIfLost = (event) => {
    if (!lost) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    say(event.target.closest?.("#tl-send, #tl-question") ? tl.words().notSent : tl.words().offline);
    keepDraft();
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#tl-send, button.tl-set, [data-start], #tl-new")) stopIfLost(event);
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey && event.target === box()) { stopIfLost(event); checkSent(); }
  }, true);
  const checkSent = () => {
    sending = box()?.value || null;
    setTimeout(() => tl.probe(), 1_000);
  };
  document.addEventListener("click", (event) => { if (event.target.closest?.("#tl-send")) checkSent(); });

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") keepDraft();
    else tl.probe(true);
  });
  addEventListener("online", () => tl.probe(true));
  addEventListener("offline", () => tl.probe());
  addEventListener("pageshow", (event) => { if (event.persisted) tl.probe(true); });
  const watch = async () => {
    for (;;) {
      await pause(lost ? RETRY : LOOK);
      if (document.visibilityState === "visible") await tl.probe();
    }
  };
  watch();
})();
