"""The demo's topics and the brands that belong to them, by slug; and the interests of the demo."""

# (name, slug, description)
INTERESTS = (
    ("Programming", "programming", "Languages, libraries and the people who argue about them."),
    ("Open source", "open-source", "Built in the open, by anyone who turns up."),
    ("Design", "design", "Logos, layouts and the tools they are made with."),
    ("Color", "color", "Every hue, sorted by people with opinions."),
    ("Art", "art", "Drawn, printed, woven or stacked."),
    ("Nature", "nature", "Leaves, creatures and clear nights."),
    ("Photography", "photography", "Light, caught in time."),
    ("Games", "games", "Studios, stores, engines and consoles."),
    ("Music and film", "music-and-film", "What to hear and what to watch."),
    ("Travel", "travel", "Airlines, trains, cars and where to stay."),
    ("Food and drink", "food-and-drink", "What is for dinner, and who brings it."),
    ("Business", "business", "Shops, banks and everything that moves money."),
    ("Hardware", "hardware", "Chips, boards and boxes with lights on."),
    ("Science", "science", "Papers, data and the places where they meet."),
)

# (name, interest, description, slugs)
TOPICS: tuple[tuple[str, str, str, str], ...] = (
    (
        "Programming languages",
        "programming",
        "From assembly to Zig.",
        "python rust go javascript typescript c cplusplus ruby php perl kotlin swift scala "
        "haskell elixir erlang elm clojure julia lua dart crystal nim zig ocaml fortran r "
        "racket reason rescript purescript gleam haxe coffeescript assemblyscript d v vala "
        "solidity commonlisp dotnet fsharp apachegroovy openjdk octave wolframlanguage gnubash "
        "nushell delphi",
    ),
    (
        "Web frameworks",
        "programming",
        "Pick one. Then pick another.",
        "react angular vuedotjs svelte nextdotjs nuxt django flask fastapi rubyonrails laravel "
        "symfony spring springboot express nestjs fastify astro remix gatsby emberdotjs solid "
        "qwik preact lit alpinedotjs htmx phoenixframework codeigniter cakephp quarkus adonisjs "
        "meteor aurelia backbonedotjs hono koa sailsdotjs redwoodjs actix tokio blazor ktor "
        "aiohttp",
    ),
    (
        "Databases I have loved",
        "programming",
        "ACID, BASE and everything in between.",
        "postgresql mysql mariadb sqlite mongodb redis apachecassandra apachecouchdb couchbase "
        "neo4j influxdb elasticsearch clickhouse cockroachlabs duckdb dgraph arangodb scylladb "
        "rocksdb apachehbase surrealdb supabase planetscale firebase realm tidb timescale "
        "singlestore snowflake ferretdb edgedb fauna questdb cratedb qdrant milvus greptimedb "
        "turso victoriametrics memcached valkey etcd rxdb",
    ),
    (
        "Data and pipelines",
        "science",
        "Streams in, tables out.",
        "apachekafka apachespark apacheflink apacheairflow apachehadoop apachehive apachenifi "
        "apachepulsar apachearrow apacheparquet apachedruid apachesuperset apachesolr "
        "apachelucene databricks dbt dagster prefect trino presto looker metabase grafana "
        "kibana tableau pandas numpy scipy scikitlearn jupyter anaconda plotly polars dask "
        "streamlit apacheavro dvc duckdb",
    ),
    (
        "Machine learning",
        "science",
        "Gradients all the way down.",
        "pytorch tensorflow keras huggingface openai anthropic claude mistralai ollama "
        "langchain onnx mlflow weightsandbiases kaggle opencv deepmind perplexity replicate "
        "googlegemini metaai deepseek qwen ultralytics roboflow gradio vllm spacy elevenlabs "
        "suno comfyui",
    ),
    (
        "Containers and clouds",
        "open-source",
        "Somebody else's computer, neatly stacked.",
        "docker kubernetes podman helm rancher k3s istio containerd argo cilium nomad terraform "
        "pulumi ansible vagrant packer openstack proxmox googlecloud digitalocean cloudflare "
        "vercel netlify render flydotio hetzner ovh linode vultr scaleway rackspace "
        "alibabacloud cloudfoundry opentofu crossplane envoyproxy traefikproxy nginx caddy "
        "apache portainer",
    ),
    (
        "Linux and friends",
        "open-source",
        "A distribution for every mood.",
        "linux ubuntu debian archlinux fedora opensuse gentoo alpinelinux kalilinux linuxmint "
        "manjaro nixos centos redhat rockylinux almalinux slackware voidlinux zorin popos "
        "elementary endeavouros garudalinux mxlinux solus tails qubesos freebsd openbsd netbsd "
        "gnu kdeplasma gnome xfce wayland artixlinux asahilinux cachyos devuan kubuntu xubuntu",
    ),
    (
        "Editors, the eternal debate",
        "programming",
        "Modal or not, tabs or spaces.",
        "vim neovim gnuemacs sublimetext jetbrains intellijidea pycharm webstorm phpstorm "
        "goland rider clion datagrip rubymine androidstudio xcode eclipseide notepadplusplus "
        "vscodium codeblocks spacemacs helix zedindustries cursor windsurf apachenetbeanside "
        "nano lapce",
    ),
    (
        "Git and its hosts",
        "open-source",
        "Commit early, push often.",
        "git github gitlab bitbucket gitea forgejo codeberg sourcehut gerrit mercurial "
        "subversion gitkraken sourcetree githubactions githubpages githubcopilot gitlfs gitbook "
        "gitpod gitee",
    ),
    (
        "Build, test, ship",
        "programming",
        "Green check marks and where they come from.",
        "jenkins circleci travisci githubactions drone buildkite teamcity jest mocha cypress "
        "selenium pytest vitest junit5 jasmine webpack vite rollupdotjs esbuild gradle "
        "apachemaven bazel cmake npm yarn pnpm bun babel eslint prettier biome ruff rubocop "
        "sonarqubeserver codecov coveralls dependabot renovate turborepo nx lerna puppeteer "
        "playwright storybook",
    ),
    (
        "Browsers",
        "open-source",
        "Windows on the web.",
        "firefoxbrowser firefox googlechrome safari opera operagx brave vivaldi torbrowser "
        "duckduckgo librewolf floorp zenbrowser arc waterfox gnuicecat ecosia maxthon",
    ),
    (
        "Design tools",
        "design",
        "For moving rectangles by one pixel.",
        "figma sketch inkscape gimp blender krita canva framer penpot dribbble behance unsplash "
        "excalidraw invision miro cinema4d houdini zbrush autodesk coreldraw affinity "
        "affinitydesigner affinityphoto aseprite boxysvg lottiefiles webflow marvelapp "
        "procreate rhinoceros sketchup sketchfab spline icons8 fontawesome phosphoricons "
        "iconify lucide",
    ),
    (
        "Game studios and engines",
        "games",
        "Who made it, and with what.",
        "unity unrealengine godotengine gamemaker cryengine ubisoft ea activision squareenix "
        "sega nintendo rockstargames epicgames riotgames valve bungie bohemiainteractive "
        "cdprojekt mihoyo supercell roblox construct3 renpy bevy libgdx phaser pygame raylib "
        "bandainamco capcom konami atari 2k taketwointeractivesoftware paradoxinteractive "
        "mojang facepunch",
    ),
    (
        "Play",
        "games",
        "Consoles, shops and the hours that went into them.",
        "steam steamdeck playstation playstation2 playstation3 playstation4 playstation5 "
        "playstationportable playstationvita xbox nintendoswitch itchdotio gogdotcom "
        "humblebundle battledotnet twitch kick discord fortnite counterstrike dota2 "
        "leagueoflegends valorant undertale minecraft pubg chessdotcom lichess "
        "dungeonsanddragons boardgamegeek roll20 oculus htcvive retroarch speedrundotcom lutris "
        "heroicgameslauncher protondb scratch",
    ),
    (
        "Listening",
        "music-and-film",
        "Headphones on.",
        "spotify applemusic soundcloud bandcamp deezer tidal youtubemusic lastdotfm pandora "
        "audacity ardour genius discogs musicbrainz beatport mixcloud audible pocketcasts "
        "overcast applepodcasts sonos bose beatsbydre jbl sennheiser audiotechnica steinberg "
        "flstudio ableton abletonlive reasonstudios protools bandlab guitarpro midi napster "
        "winamp shazam songkick foobar2000 antennapod navidrome",
    ),
    (
        "Watching",
        "music-and-film",
        "One more episode.",
        "netflix youtube vimeo hbo hbomax paramountplus appletv plex kodi jellyfin crunchyroll "
        "imdb rottentomatoes letterboxd themoviedatabase trakt mubi vlcmediaplayer mpv "
        "obsstudio dailymotion bilibili dolby dts davinciresolve kdenlive gopro insta360 "
        "blackmagicdesign tubi max dazn zdf arte bbc bbciplayer itvx channel4 peertube odysee",
    ),
    (
        "Up in the air",
        "travel",
        "Window seat, please.",
        "airfrance britishairways lufthansa emirates qatarairways qantas singaporeairlines "
        "turkishairlines ryanair easyjet wizzair jetblue delta unitedairlines americanairlines "
        "southwestairlines aircanada airindia airchina airserbia aeroflot aeromexico ana "
        "japanairlines iberia norwegian etihadairways ethiopianairlines avianca copaairlines "
        "pegasusairlines airbus boeing airtransat airasia virginatlantic saudia tarom iata "
        "flightaware",
    ),
    (
        "On rails and on foot",
        "travel",
        "Maps, metros and somewhere to sleep.",
        "deutschebahn sncf nationalrail chinarailway jrgroup londonunderground tokyometro mta "
        "moscowmetro metrodemadrid transportforlondon lyft uber bolt airbnb bookingdotcom "
        "tripadvisor hotelsdotcom expedia hilton marriott ritzcarlton googlemaps openstreetmap "
        "waze osmand komoot strava citymapper trivago tripdotcom lime nextbike here mapbox",
    ),
    (
        "Cars and bikes",
        "travel",
        "Badges worth a second look.",
        "bmw mercedes audi porsche ferrari lamborghini maserati volkswagen volvo toyota honda "
        "nissan mazda subaru suzuki hyundai kia ford chevrolet cadillac jeep tesla astonmartin "
        "bentley bugatti rollsroyce mclaren jaguar landrover mini fiat alfaromeo peugeot "
        "renault citroen opel skoda seat dacia ducati ktm vespa yamahamotorcorporation lada "
        "lucid polestar rimacautomobili koenigsegg scania man caterpillar johndeere infiniti "
        "acura",
    ),
    (
        "Eat and drink",
        "food-and-drink",
        "Orders and cravings.",
        "mcdonalds burgerking kfc starbucks tacobell hungryjacks cocacola redbull monster "
        "carlsberggroup jameson chupachups hellofresh ubereats deliveroo doordash grubhub "
        "swiggy zomato instacart foodpanda justeat glovo ifood talabat untappd picnic mealie "
        "opentable tabelog yelp delonghi tim buymeacoffee pretzel kofi",
    ),
    (
        "The weekly shop",
        "food-and-drink",
        "Trolleys of the world.",
        "carrefour auchan aldinord aldisud lidl tesco sainsburys asda morrisons coop edeka rewe "
        "kaufland intermarche edotleclerc franprix grandfrais albertheijn target walmart "
        "samsclub costco continente bigbasket rossmann dm muller mercadona soriana chedraui",
    ),
    (
        "Money",
        "business",
        "Banks, cards and ways to pay.",
        "visa mastercard americanexpress paypal stripe applepay googlepay alipay klarna revolut "
        "wise n26 monzo starlingbank chase hsbc barclays bankofamerica wellsfargo deutschebank "
        "sparkasse commerzbank goldmansachs nubank adyen square cashapp venmo westernunion "
        "moneygram paytm phonepe razorpay mollie payoneer payback samsungpay contactlesspayment",
    ),
    (
        "Coins",
        "business",
        "To the moon, or not.",
        "bitcoin ethereum dogecoin litecoin monero cardano solana polkadot ripple xrp stellar "
        "tether bitcoincash binance coinbase iota tezos algorand near ton zcash dash chainlink "
        "polygon hedera optimism kaspersky opensea walletconnect coinmarketcap trezor ledger "
        "okx kraken",
    ),
    (
        "Shops",
        "business",
        "Add to basket.",
        "ebay etsy shopify aliexpress alibabadotcom ikea zalando zara handm uniqlo asda shopee "
        "rakuten mercadopago allegro bukalapak taobao flipkart woocommerce prestashop magento "
        "bigcommerce gumroad vinted poshmark wish newegg otto galaxus bestbuy argos farfetch",
    ),
    (
        "Sport and style",
        "design",
        "Stripes, swooshes and crowns.",
        "nike adidas puma reebok newbalance underarmour jordan fila thenorthface hellyhansen "
        "fifa nba mlb nhl nfl ufc premierleague f1 peloton garmin fitbit zazzle levis burton "
        "husqvarna lacoste supreme macys",
    ),
    (
        "Chips and boards",
        "hardware",
        "Silicon with a logo.",
        "intel amd nvidia arm qualcomm mediatek raspberrypi arduino espressif riscv snapdragon "
        "stmicroelectronics nordicsemiconductor nxp asus msi msibusiness gigabyte corsair "
        "coolermaster kingstontechnology seagate westerndigital sandisk crucial razer logitech "
        "logitechg steelseries hyperx nzxt thermaltake evga system76 framework sparkfun "
        "adafruit",
    ),
    (
        "Things with screens",
        "hardware",
        "Phones, laptops and televisions.",
        "apple samsung sony lg huawei xiaomi oneplus oppo vivo honor nokia motorola fairphone "
        "htc blackberry lenovo dell hp acer toshiba panasonic philipshue sharp hitachi fujitsu "
        "thinkpad alienware canon nikon fujifilm leica kodak android ios wearos tizen",
    ),
    (
        "Smart homes",
        "hardware",
        "The light bulb needs an update.",
        "homeassistant homebridge esphome zigbee zigbee2mqtt matter smartthings googlehome nest "
        "ring wemo tado hive iobroker nodered openhab tasmota irobot ecovacs unraid synology "
        "qnap truenas ubiquiti tplink mikrotik openwrt pihole adguard nextcloud immich jellyfin",
    ),
    (
        "Messages",
        "open-source",
        "Unread: 4,096.",
        "whatsapp telegram signal messenger imessage wechat line viber skype slack discord "
        "matrix element zulip mattermost rocketdotchat threema session wire zoom googlemeet "
        "googlechat microsoftteams kakaotalk icq xmpp jabber mumble teamspeak thunderbird gmail "
        "protonmail tuta guilded groupme revoltdotchat",
    ),
    (
        "Social life",
        "business",
        "Where everybody is this year.",
        "facebook instagram x twitter tiktok snapchat pinterest reddit mastodon bluesky threads "
        "linkedin tumblr quora medium substack meetup vk sinaweibo douban flickr deviantart "
        "goodreads nextdoor clubhouse bereal lemmy pixelfed diaspora patreon kofi onlyfans "
        "myspace activitypub farcaster xing vero",
    ),
    (
        "News and words",
        "typography",
        "Mastheads and bylines.",
        "newyorktimes theguardian thewashingtonpost derspiegel bbc cnn npr wikipedia wikidata "
        "wikibooks wikiquote wikisource wikimediacommons theirishtimes thetelegraph telegraph "
        "arstechnica theregister techcrunch hackaday buzzfeed vox axios medium ghost wordpress "
        "blogger rss feedly pocket instapaper ted themoviedatabase internetarchive gutenberg",
    ),
    (
        "Science and papers",
        "science",
        "Preprints, proofs and satellites.",
        "nasa spacex cnes arxiv orcid doi zenodo elsevier springernature researchgate "
        "googlescholar semanticscholar mendeley zotero overleaf latex sagemath wolfram "
        "wolframmathematica scilab bioconductor nextflow nfcore fraunhofergesellschaft "
        "maxplanckgesellschaft ieee acm crossref plos scopus openaccess europeanspaceagency",
    ),
    (
        "Learning",
        "science",
        "Homework, but voluntary.",
        "duolingo coursera udemy udacity edx khanacademy codecademy freecodecamp pluralsight "
        "skillshare leetcode hackerrank codewars codeforces exercism theodinproject scratch "
        "kahoot quizlet moodle canvas datacamp futurelearn brilliant codechef adventofcode "
        "hackthebox tryhackme w3schools mdnwebdocs stackoverflow devdotto hashnode",
    ),
    (
        "Locks and keys",
        "open-source",
        "Trust nobody; verify.",
        "bitwarden 1password lastpass keepassxc dashlane nordvpn protonvpn mullvad wireguard "
        "openvpn tailscale zerotier letsencrypt okta auth0 keycloak authelia authentik yubico "
        "torproject tails metasploit wireshark burpsuite owasp snyk hashicorp vault "
        "gnuprivacyguard cryptomator veracrypt malwarebytes norton mcafee avast bitdefender "
        "eset kaspersky hackerone bugcrowd haveibeenpwned simplelogin ente fidoalliance",
    ),
    (
        "Work, organized",
        "business",
        "Boards about boards.",
        "notion obsidian trello asana jira confluence linear todoist basecamp airtable clickup "
        "monday evernote logseq googlesheets googledocs googledrive googlecalendar dropbox box "
        "calendly zapier ifttt n8n make toggl clockify hubspot salesforce zendesk intercom odoo "
        "sap zoho libreoffice onlyoffice apacheopenoffice microsoftoffice anytype",
    ),
    (
        "All of Google",
        "business",
        "Primary colors, mostly.",
        "google googleads googleadsense googleanalytics googlecloud googlecolab googlefonts "
        "googleforms googlekeep googlelens googlenews googlephotos googleplay googletasks "
        "googletranslate googleearth googlestreetview googleassistant googlebigquery "
        "googlecardboard googlecast googleclassroom googlegemini googlemessages googleslides "
        "googletagmanager googlesearchconsole youtube android flutter angular kotlin go",
    ),
)
