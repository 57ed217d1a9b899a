// Read it out: what is to be said at the table, in type that a player can read across it; and aloud, by a voice of this device.
(() => {
  const tl = window.tablelaw;
  const voice = window.speechSynthesis;
  const canSpeak = () => voice && "SpeechSynthesisUtterance" in window;

  const textsOf = (answer) => {
    for (const part of ["say", "now"]) {
      const found = [...answer.querySelectorAll(`.tl-part-${part}`)].map((sentence) => {
        const copy = sentence.cloneNode(true);
        for (const cite of copy.querySelectorAll(".tl-cite")) cite.remove();
        return copy.textContent.trim().replace(/\s+/g, " ");
      });
      if (found.length) return found;
    }
    return [];
  };

  // A book is quoted in its own language, whatever the language of the answer around it.
  const langOf = (text, around) => {
    if (/[а-яё]/i.test(text)) return "ru";
    return around === "ru" ? "en" : around;
  };

  // A voice that speaks on this device only: others would send the text to their maker.
  const voiceFor = (lang) => {
    const fit = voice.getVoices().filter((one) => one.lang.toLowerCase().split(/[-_]/)[0] === lang);
    return { own: fit.find((one) => one.localService), onlyRemote: fit.length > 0 && !fit.some((one) => one.localService) };
  };

  const open = (opener) => {
    const answer = opener.closest(".tl-answer");
    const texts = textsOf(answer);
    const whole = texts.join(" ");
    const lang = langOf(whole, answer.closest("[lang]").lang);
    const dialog = tl.overlay("tl-readout");
    dialog.setAttribute("aria-label", tl.words().readout);
    const words = document.createElement("div");
    words.className = "tl-readout-words";
    words.lang = lang;
    words.tabIndex = 0; // it may have to be scrolled, by keys too
    words.append(...texts.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    const speak = tl.button("tl-readout-button tl-speak", tl.words().speak);
    const stop = tl.button("tl-readout-button tl-stop", tl.words().stop);
    const close = tl.button("tl-readout-button tl-readout-close", "✕", document.querySelector("#tl-title h1")?.dataset.close);
    const bar = document.createElement("div");
    bar.className = "tl-readout-bar";
    bar.append(speak, stop, close);
    const speaking = (is) => { stop.hidden = !is; speak.hidden = is || !canSpeak() || voiceFor(lang).onlyRemote; };
    speaking(false);
    speak.addEventListener("click", () => {
      voice.cancel();
      const said = new SpeechSynthesisUtterance(whole);
      const { own } = voiceFor(lang);
      said.lang = own?.lang ?? lang;
      if (own) said.voice = own;
      said.onend = said.onerror = () => speaking(false);
      voice.speak(said);
      speaking(true);
      stop.focus();
    });
    stop.addEventListener("click", () => { voice.cancel(); speaking(false); speak.focus(); });
    close.addEventListener("click", () => dialog.close());
    if (canSpeak()) voice.onvoiceschanged = () => { if (stop.hidden) speaking(false); };
    dialog.addEventListener("close", () => voice?.cancel(), { once: true });
    dialog.replaceChildren(words, bar);
    tl.show(dialog, opener);
  };

  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("button.tl-readout");
    if (opener) open(opener);
  });
})();
