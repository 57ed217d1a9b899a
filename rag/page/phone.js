// Tiles, the bar with the cases and what was promised for later, where a case happened, feedback. All of it is kept on the
// server for this device; what is shown of a case itself comes through Gradio (a press of the hidden refresh button).
(() => {
  const tl = window.tablelaw;
  const lang = () => tl.words().lang ?? "en";
  tl.refresh = () => document.getElementById("tl-refresh")?.click();

  // Gives a sentence that says what is wrong, or nothing.
  tl.post = async (path, body) => {
    const url = `${path}?lang=${encodeURIComponent(lang())}`;
    try {
      const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      if (answer.ok) return "";
      const told = await answer.json().catch(() => ({}));
      return told.error || tl.words().notNoted;
    } catch {
      tl.probe?.();
      return tl.words().offline;
    }
  };

  // The bar
  let lists = null; // the last HTML of the server, as a document fragment
  let version = null;
  const bar = () => {
    let nav = document.getElementById("tl-bar");
    if (!nav) {
      nav = document.createElement("nav");
      nav.id = "tl-bar";
      document.body.append(nav);
    }
    return nav;
  };
  const localTimes = (root) => {
    const today = new Date().toDateString();
    const locales = [...navigator.languages.filter((one) => one.startsWith(lang())), lang()]; // 24 hours where the device has them
    for (const time of root.querySelectorAll("time[datetime]")) {
      const when = new Date(time.dateTime);
      const clock = { hour: "2-digit", minute: "2-digit" };
      const day = { day: "numeric", month: "short" };
      time.textContent = when.toLocaleString(locales, when.toDateString() === today ? clock : { ...day, ...clock });
    }
  };
  tl.loadLists = async () => {
    try {
      const answer = await fetch(`/cases/lists?lang=${encodeURIComponent(lang())}`);
      if (!answer.ok) return;
      const made = document.createElement("template");
      made.innerHTML = await answer.text();
      lists = made.content;
    } catch {
      return; // the connection's own bar says so
    }
    localTimes(lists);
    const nav = bar();
    const focusedList = nav.contains(document.activeElement) ? document.activeElement.dataset.list : null;
    nav.setAttribute("aria-label", tl.words().bar ?? "");
    nav.replaceChildren(lists.querySelector(".tl-bar-buttons").cloneNode(true));
    if (focusedList) nav.querySelector(`[data-list="${focusedList}"]`)?.focus();
    const shown = tl.sheet().open && tl.sheet().dataset.list;
    if (shown) fillSheet(shown);
  };
  const fillSheet = (name) => {
    const dialog = tl.sheet();
    const list = lists.getElementById(name).cloneNode(true);
    const focused = dialog.contains(document.activeElement) ? [...dialog.querySelectorAll("input, button")].indexOf(document.activeElement) : -1;
    const scroll = dialog.scrollTop;
    list.hidden = false;
    dialog.dataset.list = name;
    dialog.setAttribute("aria-label", list.querySelector("h2").textContent);
    dialog.replaceChildren(tl.sheetHead(), list);
    if (focused >= 0) dialog.querySelectorAll("input, button")[focused]?.focus({ preventScroll: true });
    dialog.scrollTop = scroll;
  };
  const openList = async (opener) => {
    const name = opener.dataset.list;
    await tl.loadLists();
    if (!lists) return;
    const dialog = tl.sheet();
    fillSheet(name);
    dialog.addEventListener("close", () => { delete dialog.dataset.list; }, { once: true });
    const again = bar().querySelector(`[data-list="${name}"]`);
    await tl.show(dialog, again ?? opener);
    dialog.scrollTop = 0;
  };
  const sayInSheet = (text) => {
    const dialog = tl.sheet();
    let said = dialog.querySelector(".tl-notice");
    if (!said) {
      said = Object.assign(document.createElement("p"), { className: "tl-notice" });
      said.setAttribute("role", "alert");
      dialog.querySelector(".tl-sheet-head").after(said);
    }
    said.textContent = text;
  };
  document.addEventListener("tl-case-changed", () => {
    const now = `${tl.words().version} ${lang()}`;
    if (now === version || document.querySelector('.tl-turn[aria-busy="true"]')) return;
    version = now;
    tl.loadLists();
  });

  // Where it happened
  const savePlace = async (form) => {
    const [table, board] = [form.elements.table, form.elements.board];
    const said = form.querySelector(".tl-said");
    const key = { case: form.dataset.case, table: table.value, board: board.value };
    if (form.dataset.sent === JSON.stringify(key)) return;
    form.dataset.sent = JSON.stringify(key);
    const wrong = await tl.post("/cases/place", key);
    said.textContent = wrong || tl.words().saved;
    said.classList.toggle("tl-notice", Boolean(wrong));
    if (wrong) delete form.dataset.sent;
    else tl.loadLists();
  };
  document.addEventListener("change", async (event) => {
    const form = event.target.closest?.("form.tl-place");
    if (form) savePlace(form);
    const box = event.target.closest?.(".tl-promise input");
    if (box) {
      const text = box.closest("label").querySelector(".tl-promise-text").textContent;
      const wrong = await tl.post("/cases/kept", { case: box.dataset.case, text, kept: box.checked });
      if (wrong) { box.checked = !box.checked; sayInSheet(wrong); } else tl.loadLists();
    }
  });

  // Feedback: what was said stays under its answer while that answer is the same.
  const noted = new Map(); // turn and answer -> "right" or "wrong"
  const answerOf = (form) => `${form.dataset.turn} ${[...form.closest(".tl-answer").querySelectorAll(".tl-sentence")].map((one) => one.textContent).join(" ")}`;
  const showNoted = (form, verdict) => {
    const said = form.querySelector(".tl-said");
    const words = verdict ? tl.words()[verdict] : "";
    if (said.textContent !== words) said.textContent = words; // each change of the case is told, and brings this here again
    for (const one of form.querySelectorAll(".tl-verdict")) one.setAttribute("aria-pressed", String(one.dataset.verdict === verdict));
  };
  const judge = async (form, verdict, why) => {
    const wrong = await tl.post(`/log/${encodeURIComponent(form.dataset.case)}/feedback`, { turn: Number(form.dataset.turn), verdict, why });
    if (wrong) {
      form.querySelector(".tl-said").textContent = wrong;
      return;
    }
    noted.set(answerOf(form), verdict);
    showNoted(form, verdict);
    openWhy(form, false);
    tl.typedSent(form.querySelector("textarea"));
  };
  const openWhy = (form, is) => {
    form.querySelector(".tl-why-box").hidden = !is;
    form.querySelector('[data-verdict="wrong"]').setAttribute("aria-expanded", String(is));
    if (is) form.querySelector("textarea").focus();
  };
  document.addEventListener("tl-case-changed", () => {
    for (const form of document.querySelectorAll("form.tl-feedback")) {
      const verdict = noted.get(answerOf(form));
      if (verdict) showNoted(form, verdict);
      else if (form.querySelector("textarea").value) form.querySelector(".tl-why-box").hidden = false;
    }
  });

  document.addEventListener("submit", (event) => {
    const feedback = event.target.closest?.("form.tl-feedback");
    if (!feedback && !event.target.closest?.("form.tl-place")) return;
    event.preventDefault();
    if (feedback) judge(feedback, "wrong", feedback.querySelector("textarea").value.trim());
  });
  document.addEventListener("keydown", (event) => {
    const form = event.key === "Enter" && event.target.closest?.("form.tl-place");
    if (!form) return;
    event.preventDefault(); // a form of two fields without a button is not sent by Enter
    savePlace(form);
    event.target.blur(); // the keyboard goes
  });
  document.addEventListener("click", async (event) => {
    const at = (selector) => event.target.closest?.(selector);
    const start = at("[data-start]");
    if (start) {
      if (start.disabled) return;
      start.disabled = true; // a second tap in a hurry starts no second case
      const wrong = await tl.post("/cases/tile", { irregularity: start.dataset.start });
      start.disabled = false;
      if (wrong) { tl.tell?.(wrong); return; }
      tl.sent();
      tl.refresh();
      return;
    }
    const list = at(".tl-bar-button");
    if (list) { openList(list); return; }
    const line = at(".tl-case-line");
    if (line) {
      const wrong = await tl.post("/cases/show", { case: line.dataset.show });
      if (wrong) { sayInSheet(wrong); return; }
      tl.sheet().close();
      tl.refresh();
      window.scrollTo({ top: 0 });
      return;
    }
    const verdict = at(".tl-verdict");
    if (verdict) {
      const form = verdict.closest("form");
      if (verdict.dataset.verdict === "right") judge(form, "right", "");
      else openWhy(form, form.querySelector(".tl-why-box").hidden);
    }
    if (at("#tl-send")) { tl.sent(); document.activeElement?.blur?.(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey && event.target.closest?.("#tl-question")) tl.sent();
  }, true);
})();
