# What somebody with kubectl does, in any kind of object and at any record of the history.

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
    And "Node/a" is labelled "example.com/seen=yes" once somebody has sent "create" of "pods/binding"
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
    And "Thing/shop/one" is deleted once somebody has sent "delete" of "pods"
    And "kubectl" has sent "delete" of "things" "shop/one"
    And somebody has sent "create" of "pods" 3 times
    Then a pod of the Deployment "web" is Running within 1m
