// A cited number opens the clause in a panel over the page; an example fills the question. Nothing is fetched from
// anywhere but this server.
(() => {
  const panel = () => {
    let dialog = document.getElementById("tl-panel");
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "tl-panel";
      dialog.setAttribute("aria-label", "Law");
      dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
      document.body.append(dialog);
    }
    return dialog;
  };

  const open = async (href) => {
    const dialog = panel();
    const close = document.createElement("button");
    close.id = "tl-panel-close";
    close.type = "button";
    close.textContent = "✕";
    close.setAttribute("aria-label", document.documentElement.lang === "ru" ? "Закрыть" : "Close");
    close.addEventListener("click", () => dialog.close());
    const body = document.createElement("div");
    dialog.replaceChildren(close, body);
    try {
      const answer = await fetch(href, { headers: { "X-Tablelaw-Panel": "1" } });
      body.innerHTML = await answer.text();
    } catch {
      body.textContent = document.documentElement.lang === "ru" ? "Связь потеряна." : "The connection is lost.";
    }
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };

  document.addEventListener("click", (event) => {
    const cite = event.target.closest?.("a.tl-cite");
    if (cite && document.getElementById("tl-case")) {
      event.preventDefault();
      open(cite.getAttribute("href"));
      return;
    }
    const example = event.target.closest?.("button.tl-example");
    const box = document.querySelector("#tl-question textarea");
    if (example && box) {
      box.value = example.textContent;
      box.dispatchEvent(new Event("input", { bubbles: true }));
      box.focus();
    }
  });
  document.documentElement.lang = (navigator.language || "en").slice(0, 2);
})();
