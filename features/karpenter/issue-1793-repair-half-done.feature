# What came with https://github.com/kubernetes-sigs/karpenter/pull/1793: nodes that are ill for long
# are replaced. It is behind the feature gate NodeRepair.

@karpenter @issue-1793
Feature: A node that was ill once is drained like any other

  @karpenter-1793-repair-half-done
  Scenario: A node recovers while its NodeClaim cannot be deleted, and is deleted later
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | FEATURE_GATES | NodeRepair=true |
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
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, labels: {app: web}}
      spec:
        tolerations: [{operator: Exists, effect: NoExecute}]
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    When the scenario waits for 1m
    And every call "delete nodeclaims.karpenter.sh" of the program "karpenter" is answered with 500, for 15m
    And the simulated node "$name" is NotReady, for 12m once this is recorded:
      """
      source: node
      verb: ready
      resource: nodes
      name: {not: system}
      ever: true
      """
    # It is repaired after ten minutes, for two of which nothing can be deleted.
    And the scenario waits for 20m
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then "karpenter" never sends "delete" of "pods" within 10m
    And "karpenter" has ever sent "create" of "pods/eviction" "web" within 1m
