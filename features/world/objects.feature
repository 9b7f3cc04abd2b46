# What a user of kubectl does, to any kind of object and at any event of the history.

@objects
Feature: Objects of any kind are created, changed and deleted

  Scenario: They come from a file, and each step waits for the one before
    Given a cluster
    And these objects with their status from the file "objects.yaml"
    And "kubectl" has sent "patch" of "things/status" "shop/one"
    When a machine "a" with a simulated kubelet boots
    And these objects are created once "node" has recorded "running" of "pods":
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]
      """
    Then a pod of the Deployment "web" is Running within 1m
    When "Deployment/web" is scaled to 2
    And "Node/a" is labelled "example.com/seen=yes" once a client has sent "create" of "pods/binding"
    And "Thing/shop/one" is patched with:
      """
      spec: {size: 2}
      """
    And "deploy/web" is patched with:
      """
      - {op: replace, path: /spec/replicas, value: 3}
      """
    And "Thing/shop/one" is annotated "example.com/note=any text"
    And these objects are applied:
      """
      {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1}}
      """
    And "Pod/$namespace/$name" is deleted by force once this is recorded:
      """
      source: node
      verb: running
      resource: pods
      namespace: default
      count: 2
      within: 2m
      """
    And "Thing/shop/one" is deleted once a client has sent "delete" of "pods"
    And "kubectl" has sent "delete" of "things" "shop/one"
    And a client has sent "create" of "pods" 3 times
    Then a pod of the Deployment "web" is Running within 1m

  @drain
  Scenario: A drain takes what a budget lets go, and gives up at its time
    Given a cluster
    And these objects:
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: agent}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            tolerations: [{operator: Exists}]
            containers: [{name: agent, image: agent}]
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]
            volumes: [{name: scratch, emptyDir: {}}]
      ---
      {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}
      """
    When a machine "a" with a simulated kubelet boots
    And "node" has recorded "running" of "pods" 3 times
    And "node/a" is drained for at most 1m
    # The new pod finds no node, and so the budget keeps the other; the agent's are not asked for.
    Then "kubectl" has sent "patch" of "nodes" "a" exactly 1 times within 1s
    And "kubectl" has sent "create" of "pods/eviction" exactly 1 times within 1s
    And "kubectl" has been refused "create" of "pods/eviction" at least 8 times within 1s
    When a machine "b" with a simulated kubelet boots
    And "Node/a" is drained
    Then "kubectl" has sent "create" of "pods/eviction" exactly 1 times within 1s
    And "node" has recorded "running" of "pods" at least 3 times within 1m

  @refused
  Scenario: The API server is asked for what it may refuse, and the steps go on
    Given a cluster
    And these objects with their status from the file "objects.yaml"
    And these objects:
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: owned
        namespace: shop
        ownerReferences: [{apiVersion: example.com/v1, kind: Thing, name: one, uid: $uid(Thing/shop/one)}]
      data: {owner: $uid(Thing/shop/one)}
      ---
      apiVersion: v1
      kind: Event
      metadata: {name: seen, namespace: shop}
      involvedObject: {kind: Thing, namespace: shop, name: one}
      lastTimestamp: $now
      """
    When the API server is asked to create these objects:
      """
      {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: half}, spec: {maxUnavailable: 1hr}}
      ---
      {apiVersion: v1, kind: ConfigMap, metadata: {name: after}}
      """
    And the API server is asked to apply these objects from the file "large.yaml"
    And the API server is asked to patch "Thing/shop/one" with:
      """
      spec: {size: many}
      """
    And "Thing/shop/one" is deleted
    Then "generic-garbage-collector" has sent "delete" of "configmaps" "shop/owned" within 1m
    And "kubectl" has been refused "create" of "poddisruptionbudgets" "half" with "valid percent" within 1s
    And "kubectl" has sent "create" of "configmaps" "after" within 1s
    And "kubectl" has been refused "patch" of "things" "shop/large" with "spec.size" exactly 1 time within 1s
    And "kubectl" has been refused "patch" of "things" "shop/one" with "must be of type integer" within 1s
    And "kubectl" is never refused "patch" of "things" "shop/one" with "spec.phase" within 1s

  # The API server reads what is stored, and leaves what was wrong before as it is.
  @stored
  Scenario: A stored field is what no admission would let it be
    Given a cluster
    And these objects with their status from the file "objects.yaml"
    And the stored field "spec.size" of "Thing/shop/one" becomes "large"
    When the API server is asked to patch "Thing/shop/one" with:
      """
      - {op: test, path: /spec/size, value: large}
      - {op: add, path: /metadata/labels, value: {example.com/seen: large}}
      """
    Then this holds within 1s:
      """
      happens: {source: harness, verb: corrupted, resource: things, namespace: shop, name: one, detail: {field: spec.size, was: "1", becomes: large}}
      ever: true
      """
    And "kubectl" has sent "patch" of "things" "shop/one" within 1s
    When the API server is asked to patch "Thing/shop/one" with:
      """
      spec: {size: larger}
      """
    Then "kubectl" has been refused "patch" of "things" "shop/one" with "must be of type integer" within 1s
