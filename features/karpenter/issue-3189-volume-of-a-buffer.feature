# https://github.com/kubernetes-sigs/karpenter/issues/3189

@karpenter @issue-3189
Feature: A CapacityBuffer has room where its pods can run

  @karpenter-3189-volume-of-a-buffer
  Scenario: The volume of a buffer's pods can be in one zone only, and another zone has room
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | FEATURE_GATES | CapacityBuffer=true |
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: zone-a}
      spec:
        weight: 10
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: zone-b}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-b]}
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: disk-b}
      provisioner: disk.example.com
      volumeBindingMode: WaitForFirstConsumer
      allowedTopologies:
        - matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [test-zone-b]}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}
      """
    And "node" has recorded "running" of "pods"
    When these objects are created:
      """
      apiVersion: v1
      kind: PodTemplate
      metadata: {name: spare}
      template:
        metadata: {labels: {app: spare}}
        spec:
          containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}, volumeMounts: [{name: data, mountPath: /data}]}]
          volumes:
            - name: data
              ephemeral:
                volumeClaimTemplate:
                  spec:
                    accessModes: [ReadWriteOnce]
                    storageClassName: disk-b
                    resources: {requests: {storage: 1Gi}}
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: spare}
      spec: {podTemplateRef: {name: spare}, replicas: 1}
      """
    And the scenario waits for 3m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: db, namespace: default}
      spec:
        containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes:
          - name: data
            ephemeral:
              volumeClaimTemplate:
                spec:
                  accessModes: [ReadWriteOnce]
                  storageClassName: disk-b
                  resources: {requests: {storage: 1Gi}}
      """
    Then "karpenter" never sends "create" of "nodeclaims" within 5m
