// A cited number opens the clause in a panel over the page; an example fills the question; a card that was opened or closed
// stays so while the answer grows. Nothing is fetched from anywhere but this server.
(() => {
  const words = () => document.querySelector("[data-close]")?.dataset ?? {};

  const panel = () => {
    let dialog = document.getElementById("tl-panel");
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "tl-panel";
      dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
      document.body.append(dialog);
    }
    return dialog;
  };

  const open = async (href) => {
    const wanted = new CustomEvent("tl-open-clause", { cancelable: true, detail: { href } });
    if (!document.dispatchEvent(wanted)) return; // another place than the panel shows it
    const dialog = panel();
    dialog.setAttribute("aria-label", decodeURIComponent(href.split("/").pop()));
    const close = document.createElement("button");
    close.id = "tl-panel-close";
    close.type = "button";
    close.textContent = "✕";
    close.setAttribute("aria-label", words().close ?? "");
    close.addEventListener("click", () => dialog.close());
    const body = document.createElement("div");
    dialog.replaceChildren(close, body);
    try {
      const answer = await fetch(href, { headers: { "X-Tablelaw-Panel": "1" } });
      body.innerHTML = await answer.text();
    } catch {
      body.textContent = words().lost ?? "";
    }
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };

  const chosen = new Map(); // card -> open or closed, as the reader left it
  document.addEventListener("click", (event) => {
    const cite = event.target.closest?.("a.tl-cite, a.tl-open");
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey; // else: a new tab, a new window
    if (cite && isPlain && document.querySelector("#tl-case, .tl-library")) {
      event.preventDefault();
      open(cite.getAttribute("href"));
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
