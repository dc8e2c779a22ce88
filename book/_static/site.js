/* Where the build was given no address: the one at which this page is read, in its place. */
(() => {
  const article = document.querySelector("article");
  if (!article) return;
  const site = new URL(document.documentElement.dataset.content_root, location.href).href;
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node.data.includes("ADDRESS/")) {
      node.data = node.data.replaceAll("ADDRESS/", site);
    }
  }
})();
