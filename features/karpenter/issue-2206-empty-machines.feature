# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2206

@karpenter @issue-2206
Feature: Empty machines go although a pod comes to one of them

  @karpenter-2206-empty-machines
  Scenario: Small pods come one after the other
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s, budgets: [{nodes: "0"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, namespace: default}
      spec:
        replicas: 4
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 5}}}]
      """
    Then 1m from now, exactly 4 NodeClaims have been created since the start
    When "Deployment/web" is scaled to 0
    And the scenario waits for 35s
    And "NodePool/default" is patched with:
      """
      spec: {disruption: {budgets: [{nodes: 100%}]}}
      """
    And the scenario waits for 12.5s
    And a pod "one" that requests 1 CPU is created
    And the scenario waits for 15s
    And a pod "two" that requests 1 CPU is created
    And the scenario waits for 11s
    And a pod "three" that requests 1 CPU is created
    And the scenario waits for 12s
    And a pod "four" that requests 1 CPU is created
    Then this holds within 3m:
      """
      count: {source: api, verb: delete, resource: nodeclaims, actor: karpenter}
      atLeast: 3
      ever: true
      """
