const data = JSON.parse(document.getElementById("data").textContent);
startPlayers(data.runs);
startFindings();
