// A cited number opens the clause in a sheet over the page; an example fills the question; a card that was opened or closed
// stays so while the answer grows. Nothing is fetched from anywhere but this server.
(() => {
  const tl = (window.tablelaw = {});
  const words = () => document.querySelector("[data-close]")?.dataset ?? {};
  tl.words = () => document.getElementById("tl-words")?.dataset ?? {};

  const button = (className, text, label) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = className;
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    return made;
  };
  tl.button = button;

  // Overlays: one at a time; the browser's Back closes it instead of leaving the page, and the focus goes back.
  let leaving = Promise.resolve();
  tl.show = async (dialog, opener) => {
    await leaving;
    if (dialog.open) return;
    dialog.opener = tl.keyOf?.(opener) ?? opener;
    dialog.showModal();
    history.pushState({ ...history.state, tlOverlay: true }, "");
  };
  tl.overlay = (id) => {
    let dialog = document.getElementById(id);
    if (dialog) return dialog;
    dialog = document.createElement("dialog");
    dialog.id = id;
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => {
      if (history.state?.tlOverlay) {
        leaving = new Promise((done) => {
          window.addEventListener("popstate", done, { once: true });
          setTimeout(done, 500);
        });
        history.back();
      }
      const opener = dialog.opener;
      const again = opener instanceof Element && !opener.isConnected
        ? document.querySelector(`[data-list="${opener.dataset.list}"]`) : tl.found?.(opener);
      again?.focus({ preventScroll: true });
    });
    document.body.append(dialog);
    return dialog;
  };
  if (history.state?.tlOverlay) history.replaceState({ ...history.state, tlOverlay: false }, ""); // reloaded with one open
  window.addEventListener("popstate", () => {
    if (!history.state?.tlOverlay) for (const dialog of document.querySelectorAll("dialog[id^=tl-][open]")) dialog.close();
  });

  // The sheet: slides up from below, and down again by a swipe.
  const SWIPE = 90; // pixels
  tl.sheet = () => {
    const dialog = tl.overlay("tl-panel");
    if (dialog.dataset.swipes) return dialog;
    dialog.dataset.swipes = "true";
    let from = null;
    dialog.addEventListener("touchstart", (event) => {
      from = dialog.scrollTop <= 0 && event.touches.length === 1 ? event.touches[0] : null;
    }, { passive: true });
    dialog.addEventListener("touchmove", (event) => {
      const down = from ? event.touches[0].clientY - from.clientY : 0;
      dialog.style.transform = down > 0 && dialog.scrollTop <= 0 ? `translateY(${down}px)` : "";
    }, { passive: true });
    const letGo = (event) => {
      const to = event.changedTouches[0];
      const down = from ? to.clientY - from.clientY : 0;
      const across = from ? Math.abs(to.clientX - from.clientX) : 0;
      dialog.style.transform = "";
      if (event.type === "touchend" && down > SWIPE && down > 2 * across && dialog.scrollTop <= 0) dialog.close();
      from = null;
    };
    dialog.addEventListener("touchend", letGo);
    dialog.addEventListener("touchcancel", letGo);
    dialog.addEventListener("close", () => { stack = []; });
    return dialog;
  };
  tl.sheetHead = (...before) => {
    const head = document.createElement("div");
    head.className = "tl-sheet-head";
    const close = button("tl-sheet-button", "✕", words().close ?? "");
    close.id = "tl-panel-close";
    close.addEventListener("click", () => tl.sheet().close());
    head.append(...before, close);
    return head;
  };

  // Clauses in the sheet: a cross reference is one tap further, "back" is where one was.
  let stack = []; // {href, name, scroll}, the clause that is shown last
  const nameOf = (href) => decodeURIComponent(href.split("?")[0].split("/").pop());
  const showClause = async () => {
    const dialog = tl.sheet();
    const here = stack.at(-1);
    const before = stack.at(-2);
    const back = [];
    if (before) {
      const made = button("tl-sheet-button tl-sheet-back", `‹ ${before.name}`, tl.words().back?.replace("{clause}", before.name));
      made.addEventListener("click", () => { stack.pop(); showClause(); });
      back.push(made);
    }
    const body = document.createElement("div");
    try {
      const answer = await fetch(here.href, { headers: { "X-Tablelaw-Panel": "1" } });
      body.innerHTML = await answer.text();
    } catch {
      body.textContent = words().lost ?? "";
    }
    if (stack.at(-1) !== here) return; // another was tapped meanwhile
    dialog.setAttribute("aria-label", here.name);
    const head = tl.sheetHead(...back);
    dialog.replaceChildren(head, body);
    if (!dialog.open) await tl.show(dialog, here.opener);
    dialog.scrollTop = here.scroll;
    (head.querySelector(".tl-sheet-back") ?? head.lastChild).focus({ preventScroll: true });
  };
  const openClause = (link) => {
    const href = link.getAttribute("href");
    const dialog = tl.sheet();
    const inside = dialog.open && dialog.contains(link);
    if (!inside) {
      const asked = new CustomEvent("tl-open-clause", { detail: href, cancelable: true });
      if (!document.dispatchEvent(asked)) return; // it is shown elsewhere
      stack = [];
    } else {
      stack.at(-1).scroll = dialog.scrollTop;
    }
    stack.push({ href, name: nameOf(href), scroll: 0, opener: link });
    showClause();
  };

  const chosen = new Map(); // card -> open or closed, as the reader left it
  document.addEventListener("click", (event) => {
    const cite = event.target.closest?.("a.tl-cite, a.tl-open");
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey; // else: a new tab, a new window
    if (cite && isPlain && document.querySelector("#tl-case, .tl-library")) {
      event.preventDefault();
      openClause(cite);
      return;
    }
    const set = event.target.closest?.("button.tl-set");
    const carrier = document.querySelector("#tl-set-box textarea, #tl-set-box input");
    if (set && carrier) {
      carrier.value = `${set.dataset.turn} ${set.dataset.set}`;
      carrier.dispatchEvent(new Event("input", { bubbles: true }));
      setTimeout(() => document.getElementById("tl-set-send")?.click(), 0);
      return;
    }
    const card = event.target.closest?.("summary")?.closest("details[data-key]");
    if (card) chosen.set(card.dataset.key, !card.open); // the click toggles it after this
    const example = event.target.closest?.("button.tl-example");
    const box = document.querySelector("#tl-question textarea");
    if (example && box) {
      box.value = example.textContent;
      box.dispatchEvent(new Event("input", { bubbles: true }));
      box.focus();
    }
  });

  // The page's parts are replaced whole while an answer grows.
  new MutationObserver(() => {
    const lang = document.querySelector("#tl-title h1")?.lang;
    if (lang) document.documentElement.lang = lang;
    for (const card of document.querySelectorAll("details[data-key]")) {
      const wanted = chosen.get(card.dataset.key);
      if (wanted !== undefined && card.open !== wanted) card.open = wanted;
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
